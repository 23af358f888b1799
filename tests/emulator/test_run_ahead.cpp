// Lanes that run ahead of their warp, and blocks that repeat the one before: with Launch::record_order neither happens,
// so a launch with and without it must agree in all else.
#include <atomic>
#include <cstdio>
#include <iterator>
#include <random>
#include <utility>
#include <vector>

#include <bankwise/emulator/core/global_memory.hpp>
#include <bankwise/emulator/core/lane.hpp>
#include <bankwise/emulator/cuda.hpp>
#include <bankwise/trace/codec.hpp>
#include "kernel_tests.hpp"
#include "tests/catch_any.hpp"

using namespace bankwise;
using bankwise::trace::KernelTrace;

namespace {

enum class Step {
  load,
  store,
  load_byte,
  store_byte,
  branch,
  loop,
  barrier,
  warp_barrier,
  shuffle,
  add,
  global_load,
  global_store,
  global_add,
  call,
  divide,
  local_store,
  other_local,
  any_memory,
  kinds
};
struct Program {
  static constexpr unsigned max_steps = 40;
  struct {
    Step kind;
    unsigned lanes, times, plus;
  } steps[max_steps];
  unsigned count, other;
};

__device__ __attribute__((noinline)) unsigned called(unsigned* words, unsigned at) {
  words[at] += at;
  return words[at ^ 1];
}

/// Its steps are constants on a lane's stack. Words of shared memory that it does not write first are unwritten.
__global__ void runs(Program program, unsigned* memory) {
  __shared__ unsigned words[256];
  __shared__ unsigned char bytes[256];
  __shared__ unsigned* locals[128];
  unsigned x = threadIdx.x, local = x;
  locals[threadIdx.x] = &local;
  __syncthreads();
  unsigned* const other = locals[(threadIdx.x + program.other) % blockDim.x];
  words[threadIdx.x] = x;
  bytes[threadIdx.x] = 1;
  for (unsigned i = 0; i < program.count; ++i) {
    const auto& step = program.steps[i];
    const unsigned at = (step.times * threadIdx.x + step.plus) % 256;
    switch (step.kind) {
      case Step::load: x += words[at]; break;
      case Step::store: words[at] = x; break;
      case Step::load_byte: x += bytes[at]; break;
      case Step::store_byte: bytes[at] = (unsigned char)x; break;
      case Step::branch:
        if ((threadIdx.x & step.lanes) != 0) {
          words[at] = x;
        } else {
          x ^= words[at];
        }
        break;
      case Step::loop:
        for (unsigned k = 0; k < (threadIdx.x & step.lanes); ++k) x += words[(at + k) % 256];
        break;
      case Step::barrier: __syncthreads(); break;
      case Step::warp_barrier: __syncwarp(); break;
      case Step::shuffle: x += __shfl_xor_sync(0xFFFFFFFF, x, 1); break;
      case Step::add: x += atomicAdd(&words[at], 3U); break;
      case Step::global_load: x += memory[blockIdx.x * 256 + at]; break;
      case Step::global_store: memory[blockIdx.x * 256 + at] = x; break;
      case Step::global_add: x += atomicAdd(&memory[at % 8], 1U); break;
      case Step::call: x += called(words, at); break;
      case Step::divide: x += 1000 / (threadIdx.x ^ step.plus); break;
      case Step::local_store: local = x; break;
      case Step::other_local: x += *other; break;
      case Step::any_memory: {
        unsigned* const places[]{&words[at], &local, &memory[blockIdx.x * 256 + at]};
        *places[(threadIdx.x & step.lanes) % 3] += x;
        x ^= local;
        break;
      }
      case Step::kinds: break;
    }
  }
  memory[blockIdx.x * 256 + threadIdx.x] = x;
}

Program random_program(std::mt19937& random) {
  const auto below = [&](unsigned n) { return std::uniform_int_distribution<unsigned>(0, n - 1)(random); };
  Program program{};
  program.count = 1 + below(Program::max_steps);
  program.other = below(4);
  std::vector<Step> kinds(1 + below(below(2) == 0 ? 5 : 24));  // many have few
  for (Step& kind : kinds) kind = Step(below(unsigned(Step::kinds)));
  const bool may_clash = below(2) != 0, may_divide = below(8) == 0;
  for (unsigned i = 0; i < program.count; ++i) {
    auto& step = program.steps[i];
    step.kind = kinds[below(unsigned(kinds.size()))];
    if (step.kind == Step::divide && !may_divide) step.kind = Step::load;
    step.lanes = below(8);
    step.times = may_clash ? below(4) : 1;
    step.plus = below(may_clash ? 512 : 4) & ~(may_clash ? 0U : 3U);
  }
  return program;
}

struct Result {
  std::string trace;
  std::vector<unsigned> memory;
  std::size_t faults;
};

/// Writes all of shared memory, which is as the last launch left it.
const Program writes_all{.steps = {{Step::store, 0, 1, 0},
                                   {Step::store, 0, 1, 128},
                                   {Step::store_byte, 0, 1, 0},
                                   {Step::store_byte, 0, 1, 128}},
                         .count = 4,
                         .other = 0};

/// What stands for device memory: one allocation.
class DeviceMemory {
 public:
  static constexpr std::size_t bytes = 2 << emulator::GlobalMemory::page_bits;
  DeviceMemory() {
    auto& memory = emulator::global_memory;
    memory.begin = std::uintptr_t(words);
    memory.owners = owners;
    memory.allocations = allocations;
    memory.last_writes = last_writes;
    memory.last_reads = last_reads;
    memory.written_in = written_in;
    memory.describe = [](const void*) { return std::string("in it"); };
    memory.host_access = [](const void*, std::size_t, bool, std::uintptr_t) {};
    memory.bytes = bytes;
  }
  DeviceMemory(const DeviceMemory&) = delete;
  ~DeviceMemory() {
    emulator::global_memory.bytes = 0;
    emulator::global_memory.last_reads = nullptr;
  }
  alignas(4096) inline static unsigned words[bytes / 4];

 private:
  static constexpr std::uint32_t owners[]{1, 1};
  inline static emulator::GlobalMemory::Range allocations[]{{}, {std::uintptr_t(words), bytes}};
  alignas(4096) inline static emulator::GlobalMemory::Touch last_writes[bytes / 4], last_reads[bytes / 4];
  alignas(4096) inline static std::atomic<std::uint8_t> written_in[4096];  // whole pages are cleared
};

Result result_of(const Program& program, emulator::Launch launch, bool in_lock_step) {
  std::vector<unsigned> ignored(256);
  emulate(runs, {.grid = 1, .block = 128, .threads = 1, .source_lines = false}, writes_all, ignored.data());
  for (unsigned i = 0; i < std::size(DeviceMemory::words); ++i)
    DeviceMemory::words[i] = i / 256 / 2;  // of two blocks alike
  launch.record_order = in_lock_step;
  KernelTrace trace = emulate(runs, launch, program, DeviceMemory::words);
  Result result;
  result.memory.assign(std::begin(DeviceMemory::words), std::end(DeviceMemory::words));
  trace.order.clear();
  result.faults = trace.diagnoses.size();
  result.trace = trace::to_json_lines({.kernels = {trace}});
  return result;
}

/// Until the end of a test.
struct RunningAhead {
  bool before = std::exchange(emulator::lanes_may_run_ahead, true);
  RunningAhead() = default;
  RunningAhead(const RunningAhead&) = delete;
  RunningAhead& operator=(const RunningAhead&) = delete;
  ~RunningAhead() { emulator::lanes_may_run_ahead = before; }
};

/// Each lane writes a character to a file, and then a word that its neighbour has read, if that lane has run ahead.
__global__ void writes_to(std::FILE* file) {
  __shared__ unsigned words[32];
  words[threadIdx.x] = 1;
  __syncthreads();
  words[threadIdx.x] = 2;
  std::fputc('x', file);
  words[(threadIdx.x + 1) % 32] += 1;
}

/// Lane 2 takes another way after two accesses, when lane 0 has read what lane 3 is about to write.
__global__ void goes_back(std::FILE* file) {
  __shared__ unsigned words[32], others[32];
  words[threadIdx.x] = 0;
  __syncthreads();
  words[threadIdx.x] = 1;
  std::fputc('x', file);
  others[threadIdx.x] = 1;
  if (threadIdx.x != 2) others[threadIdx.x] += words[(threadIdx.x + 3) % 32];
}

long written_characters(void (*kernel)(std::FILE*)) {
  std::FILE* const file = std::tmpfile();
  REQUIRE(file != nullptr);
  emulate(kernel, {.grid = 1, .block = 32, .threads = 1, .source_lines = false, .fatal = false}, file);
  const long count = std::ftell(file);
  (void)std::fclose(file);
  return count;
}

}  // namespace

// Nothing tells the emulator of what such a kernel calls.
TEST_CASE("emulator/run_ahead/not_in_unit_tests") {
  CHECK(written_characters(writes_to) == 32);
  const RunningAhead on;
  CHECK(written_characters(writes_to) > 32);
}

// Lanes 0 to 2 write before they go back. The lanes then write once, although lane 0 had read words[3]: that is undone.
TEST_CASE("emulator/run_ahead/second_attempt") {
  const RunningAhead on;
  CHECK(written_characters(goes_back) == 3 + 32);
}

TEST_CASE("emulator/run_ahead/lock_step") {
  const RunningAhead on;
  const DeviceMemory memory;
  std::mt19937 random(36);
  unsigned faulty = 0;
  constexpr unsigned programs = 400;
  for (unsigned i = 0; i < programs; ++i) {
    const Program program = random_program(random);
    CAPTURE(i);
    for (const bool warp_synchronous : {false, true}) {
      const emulator::Launch launch{.grid = 5,
                                    .block = i % 3 == 0 ? 96U : 128U,
                                    .warp = i % 4 == 0 ? 64U : 32U,
                                    .trace_blocks = {0, 1, 2, 3},
                                    .threads = 1,
                                    .global_patterns = i % 2 == 0 ? 1024U : 0U,
                                    .source_lines = false,
                                    .warp_synchronous = warp_synchronous,
                                    .fatal = false};
      const Result ahead = result_of(program, launch, false), in_lock_step = result_of(program, launch, true);
      REQUIRE(ahead.trace == in_lock_step.trace);
      REQUIRE(ahead.memory == in_lock_step.memory);
      faulty += in_lock_step.faults != 0 ? 1 : 0;
    }
  }
  CHECK(faulty > 2 * programs / 4);
  CHECK(faulty < 2 * programs * 7 / 8);
}
