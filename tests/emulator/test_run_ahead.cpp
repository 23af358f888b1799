// Lanes that run ahead of their warp, and blocks that repeat the one before: with Launch::record_order neither happens,
// so a launch with and without it must agree in all else. Lanes that access device memory together: with Launch::fatal
// each does so alone.
#include <semaphore.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <iterator>
#include <random>
#include <utility>
#include <vector>

#include <bankwise/emulator/core/global_memory.hpp>
#include <bankwise/emulator/core/global_patterns.hpp>
#include <bankwise/emulator/core/lane.hpp>
#include <bankwise/emulator/cuda.hpp>
#include <bankwise/trace/codec.hpp>
#include "kernel_tests.hpp"
#include "tests/catch_any.hpp"
#include "tests/random_cases.hpp"

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

/// What stands for device memory: allocations of two pages, one, and one.
class DeviceMemory {
 public:
  static constexpr std::size_t page = 1 << emulator::GlobalMemory::page_bits, bytes = 4 * page;
  DeviceMemory() {
    auto& memory = emulator::global_memory;
    memory.begin = std::uintptr_t(words);
    memory.owners = owners;
    memory.allocations = allocations;
    memory.last_writes = last_writes;
    memory.last_reads = last_reads;
    memory.sector_reads = sector_reads;
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
  static constexpr std::uint32_t owners[]{1, 1, 2, 3};
  inline static emulator::GlobalMemory::Range allocations[]{{},
                                                            {std::uintptr_t(words), 2 * page},
                                                            {std::uintptr_t(words) + 2 * page, page},
                                                            {std::uintptr_t(words) + 3 * page, page}};
  alignas(4096) inline static emulator::GlobalMemory::Touch last_writes[bytes / 4], last_reads[bytes / 4];
  alignas(4096) inline static emulator::GlobalMemory::Touch sector_reads[bytes / emulator::GlobalMemory::sector];
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

struct GlobalProgram {
  enum Kind {
    load,
    load_parts,
    load_wide,
    load_any,
    load_many,
    load_struct,
    load_variable,
    barrier,
    store,
    store_part,
    store_wide,
    add,
    is_volatile,
    fence,
    kinds
  };
  struct {
    unsigned kind, lanes, times, plus, trips;
  } steps[24];
  unsigned count;
  bool races;
};

__device__ unsigned variable[16];
struct Struct {
  unsigned words[70];
};

/// Loads in one basic block.
template <std::size_t... i>
__device__ unsigned sum_of(const unsigned* memory, unsigned at, std::index_sequence<i...>) {
  return (memory[(at + i) % 2048] + ...);
}

/// Reads the first pages, and writes words of its own in the last, or, if it races, those in the first that others
/// write, too.
__global__ void runs_in_global(GlobalProgram program, unsigned* memory) {
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned* const own = memory + (program.races ? thread % 64 : 768 + thread) * 4;
  unsigned x = 0;
  for (unsigned i = 0; i < program.count; ++i) {
    const auto& step = program.steps[i];
    if (step.kind == GlobalProgram::fence && (threadIdx.x & step.lanes) == 7) return;
    if (step.kind == GlobalProgram::barrier) {
      __syncthreads();
      continue;
    }
    if (step.trips != 0 && (threadIdx.x & step.lanes) == 0) continue;
    const unsigned trips = step.trips == 3 ? threadIdx.x % 2 * 100 : step.trips == 2 ? threadIdx.x % 4 : 1;
    for (unsigned k = 0; k < trips; ++k) {
      const unsigned at = (step.times * thread + step.plus + k) % 2048;
      switch (step.kind) {
        case GlobalProgram::load: x += memory[at] + memory[(at + 1) % 2048]; break;
        case GlobalProgram::load_parts:
          x += reinterpret_cast<unsigned char*>(memory)[at] + reinterpret_cast<unsigned short*>(memory)[at];
          break;
        case GlobalProgram::load_wide:
          x += reinterpret_cast<uint2*>(memory)[at % 1024].y + reinterpret_cast<uint4*>(memory)[at % 512].w;
          break;
        case GlobalProgram::load_any:
          x += memory[(threadIdx.x & step.lanes) != 0 ? 2048 + at % 1024 : at] + memory[(at + 2) % 2048];
          break;
        case GlobalProgram::load_many: x += sum_of(memory, at, std::make_index_sequence<256>()); break;
        case GlobalProgram::load_struct: {
          const Struct copy = *reinterpret_cast<const Struct*>(memory + at % 1024);
          x += copy.words[x % 70];
          break;
        }
        case GlobalProgram::load_variable: x += variable[at % 16] + memory[at]; break;
        case GlobalProgram::store: own[step.plus % 4] = x; break;
        case GlobalProgram::store_part: reinterpret_cast<unsigned char*>(own)[step.plus % 16] += x; break;
        case GlobalProgram::store_wide: *reinterpret_cast<uint4*>(own) = {x, i, k, thread}; break;
        case GlobalProgram::add: x += atomicAdd(own, 1U); break;
        case GlobalProgram::is_volatile: x += *const_cast<volatile unsigned*>(own); break;
        case GlobalProgram::fence: __threadfence(); break;
        default: break;
      }
    }
  }
  own[0] = x;
}

GlobalProgram random_global_program(std::mt19937& random) {
  const auto below = [&](unsigned n) { return std::uniform_int_distribution<unsigned>(0, n - 1)(random); };
  GlobalProgram program{};
  program.count = 1 + below(std::size(program.steps));
  const unsigned kinds = below(2) == 0 ? unsigned(GlobalProgram::add) : unsigned(GlobalProgram::kinds);
  for (auto& step : program.steps) step = {below(kinds), below(16), below(5), below(600), below(4)};
  return program;
}

KernelTrace trace_of(const GlobalProgram& program, const emulator::Launch& launch) {
  std::ranges::fill(DeviceMemory::words, 1U);
  return emulate(runs_in_global, launch, program, DeviceMemory::words);
}

/// Block 1 writes what block 0 has read, once that has told it to; block 0 then does nothing for a while.
__global__ void signals(unsigned* memory) {
  unsigned* const flag = memory + 1024;
  if (blockIdx.x == 1) {
    while (atomicAdd(flag, 0U) == 0) {
    }
    memory[0] = 1;
    atomicAdd(flag, 1U);
    return;
  }
  memory[2048] = memory[0];
  atomicAdd(flag, 1U);
  for (unsigned i = 0; i < 1000 && __atomic_load_n(flag, __ATOMIC_RELAXED) < 2; ++i) usleep(100);
}

/// Lanes store twice. Between the two stores of lane 1, block 1 loads its word. Fences order this load with the first
/// store, but not the second store with the load. Semaphores: one that never blocks, written, read.
sem_t semaphores[3];
__global__ void stores_again(unsigned* memory, unsigned times) {
  unsigned x = 0;
  if (blockIdx.x == 1) {
    if (threadIdx.x != 0) return;
    __threadfence();
    sem_wait(&semaphores[1]);
    memory[2048] = memory[1];
    __threadfence();
    sem_post(&semaphores[2]);
    return;
  }
  for (unsigned i = 0; i < times; ++i) {
    const unsigned waits = threadIdx.x & i & 1;
    sem_post(&semaphores[waits]);
    sem_wait(&semaphores[2 * waits]);
    memory[threadIdx.x] = 7 + i;
    x += memory[64 + threadIdx.x];
  }
  memory[1024 + threadIdx.x] = x;
}

emulator::Launch global_launch(unsigned i) {
  return {.grid = 2,
          .block = 96U + i % 2 * 8,
          .warp = i % 4 == 0 ? 64U : 32U,
          .trace_blocks = {0, 1},
          .threads = 1,
          .global_patterns = i % 3 == 0 ? 64U : 1024U,
          .source_lines = false,
          .returned_lanes_arrive = true};
}

/// Two lanes each read the first halves of words; the second warp writes a half of the last.
__global__ void halves(unsigned short* memory, unsigned written) {
  const unsigned lane = threadIdx.x % 32;
  if (threadIdx.x < 32) {
    memory[4096 + lane] = memory[lane / 2 * 2];
  } else if (lane == 31) {
    memory[30 + written] = 7;
  }
}

/// Each block reads some words, or writes a value that is not 0 to them.
struct Turn {
  unsigned value, first, lanes, flip = 0;
};
__global__ void in_turn(unsigned* memory, const Turn* turns) {
  const Turn turn = turns[blockIdx.x];
  if (threadIdx.x >= turn.lanes) return;
  unsigned& word = memory[turn.first + (threadIdx.x ^ turn.flip)];
  turn.value != 0 ? word = turn.value : memory[3072 + 32 * blockIdx.x + threadIdx.x] = word;
}

struct Many {
  unsigned words[8];
};
__global__ void stores_many(Many* memory, Many many, bool differ) {
  if (differ) many.words[7] = blockIdx.x + 1;
  *memory = many;
}

/// Lane 0 comes to a barrier long before the others of its warp. After it, it does what they did before, while another
/// warp writes there.
__global__ void comes_early(unsigned* memory) {
  unsigned x = 0;
  for (unsigned level = 0; level < 2; ++level) {
    const bool loads = threadIdx.x < 32 && (threadIdx.x == 0) == (level == 1);
    for (unsigned i = 0; i < (loads ? 200 : 0); ++i) x += memory[i];
    if (threadIdx.x == 32 && level == 1) memory[100] = 7;
    __syncthreads();
  }
  memory[2048 + threadIdx.x] = x;
}

/// Lanes 1 to 31 read after a fence of lane 0, and the second warp writes after it.
__global__ void fences(unsigned* memory) {
  const unsigned lane = threadIdx.x % 32;
  if (threadIdx.x < 32) {
    memory[2048 + lane] = memory[lane];
    if (lane == 0) __threadfence();
  } else {
    memory[lane] = 7;
  }
}

/// A word is read once. Then there are more accesses without a barrier than the emulator keeps, lanes part, and a lane
/// of another warp writes that word.
__global__ void long_loop(unsigned trips, unsigned* out) {
  __shared__ unsigned words[256];
  words[threadIdx.x] = threadIdx.x;
  words[threadIdx.x + 128] = 1;
  __syncthreads();
  unsigned x = words[(threadIdx.x + 1) % 128];
  for (unsigned i = 0; i < trips; ++i) x += words[128 + (threadIdx.x + i) % 128];
  if (threadIdx.x % 2 == 0) x += words[threadIdx.x + 128];
  if (threadIdx.x == 0) words[100] = x;
  out[threadIdx.x] = x;
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
  const unsigned programs = random_cases(400);
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

TEST_CASE("emulator/run_ahead/long_loop") {
  const RunningAhead on;
  std::vector<unsigned> out(128);
  emulator::Launch launch{.grid = 1, .block = 128, .threads = 1, .source_lines = false, .fatal = false};
  const auto text = [&](unsigned trips) {
    KernelTrace trace = emulate(long_loop, launch, trips, out.data());
    trace.order.clear();
    CHECK(trace.diagnoses.size() == 1);
    return trace::to_json_lines({.kernels = {trace}});
  };
  const std::string few = text(100), many = text(40000);
  launch.record_order = true;
  CHECK(text(100) == few);
  CHECK(text(40000) == many);
}

TEST_CASE("emulator/joint_accesses/alone") {
  const DeviceMemory memory;
  std::mt19937 random(36);
  for (unsigned i = 0; i < random_cases(200); ++i) {
    const GlobalProgram program = random_global_program(random);
    CAPTURE(i);
    emulator::Launch launch = global_launch(i);
    const std::string alone = trace::to_json_lines({.kernels = {trace_of(program, launch)}});
    launch.fatal = false;
    REQUIRE(trace::to_json_lines({.kernels = {trace_of(program, launch)}}) == alone);
  }
}

TEST_CASE("emulator/joint_accesses/races") {
  const DeviceMemory memory;
  std::mt19937 random(37);
  unsigned racing = 0;
  const unsigned programs = random_cases(200);
  for (unsigned i = 0; i < programs; ++i) {
    GlobalProgram program = random_global_program(random);
    program.races = true;
    for (auto& step : program.steps) {
      if (step.kind >= GlobalProgram::add) step.kind = GlobalProgram::store;
    }
    if (i % 4 == 0) program.steps[0] = {GlobalProgram::fence, 0, 0, 0, 0};  // which may order what follows
    CAPTURE(i);
    emulator::Launch launch = global_launch(i);
    bool races_alone = false;
    try {
      (void)trace_of(program, launch);
    } catch (const emulator::Diagnosis& diagnosis) {
      races_alone = diagnosis.fault == emulator::Fault::global_race;
    }
    launch.fatal = false;
    REQUIRE(trace_of(program, launch).diagnoses.empty() != races_alone);
    racing += races_alone ? 1 : 0;
  }
  CHECK(racing > programs / 4);
  CHECK(racing < programs);
}

TEST_CASE("emulator/joint_accesses/signal") {
  const DeviceMemory memory;
  std::ranges::fill(DeviceMemory::words, 0U);
  const emulator::Launch launch{.grid = 2, .block = 1, .threads = 2, .source_lines = false, .fatal = false};
  CHECK(emulate(signals, launch, DeviceMemory::words).diagnoses.empty());
  CHECK(DeviceMemory::words[1024] == 2);
}

TEST_CASE("emulator/joint_accesses/same_pattern") {
  constexpr std::uint64_t begin = 1 << 20;
  for (const unsigned lanes : {32U, 20U}) {
    emulator::GlobalPatterns patterns(8, "sm_90");
    const emulator::GlobalPatterns::Access access{.pc = 4, .mask = (std::uint64_t{1} << lanes) - 1};
    std::array<std::uint64_t, banks::max_lanes> addresses{};
    std::array<std::uint32_t, banks::max_lanes> offsets{};
    for (unsigned lane = 0; lane < lanes; ++lane) addresses[lane] = begin + (offsets[lane] = 640 + 12 * lane);
    patterns.add(access, addresses.data(), {});
    CHECK(patterns.add_again(access, begin, offsets.data(), {}));
    for (unsigned lane = 1; lane < lanes; ++lane) {
      auto other = offsets;
      other[lane] += 4;
      CHECK_FALSE(patterns.add_again(access, begin, other.data(), {}));
    }
  }
}

TEST_CASE("emulator/joint_accesses/repeated_stores") {
  const DeviceMemory memory;
  for (sem_t& semaphore : semaphores) REQUIRE(sem_init(&semaphore, 0, 0) == 0);
  std::ranges::fill(DeviceMemory::words, 0U);
  const emulator::Launch launch{.grid = 2, .block = 2, .threads = 2, .source_lines = false, .fatal = false};
  const KernelTrace trace = emulate(stores_again, launch, DeviceMemory::words, 2U);
  REQUIRE(trace.diagnoses.size() == 1);
  CHECK_THAT(trace.diagnoses[0].text, has("writes 4 bytes"));
}

TEST_CASE("emulator/joint_accesses/fence") {
  const DeviceMemory memory;
  std::ranges::fill(DeviceMemory::words, 0U);
  const emulator::Launch launch{.grid = 1, .block = 64, .source_lines = false, .fatal = false};
  const KernelTrace trace = emulate(fences, launch, DeviceMemory::words);
  REQUIRE(trace.diagnoses.size() == 1);
  CHECK_THAT(trace.diagnoses[0].text, Catch::Matchers::StartsWith("thread 33 "));
}

TEST_CASE("emulator/joint_accesses/levels") {
  const DeviceMemory memory;
  std::ranges::fill(DeviceMemory::words, 0U);
  const emulator::Launch launch{.grid = 1, .block = 64, .source_lines = false, .fatal = false};
  CHECK(emulate(comes_early, launch, DeviceMemory::words).diagnoses.size() == 1);
}

TEST_CASE("emulator/joint_accesses/halves") {
  const DeviceMemory memory;
  const emulator::Launch launch{.grid = 1, .block = 64, .source_lines = false, .fatal = false};
  for (const unsigned written : {0U, 1U}) {
    std::ranges::fill(DeviceMemory::words, 0U);
    auto* const parts = reinterpret_cast<unsigned short*>(DeviceMemory::words);
    CHECK(emulate(halves, launch, parts, written).diagnoses.size() == (written == 0 ? 1 : 0));
  }
}

std::string first_fault(std::vector<Turn> turns) {
  std::ranges::fill(DeviceMemory::words, 1U);
  const emulator::Launch launch{
      .grid = unsigned(turns.size()), .block = 32, .threads = 1, .source_lines = false, .fatal = false};
  const KernelTrace trace = emulate(in_turn, launch, DeviceMemory::words, turns.data());
  return trace.diagnoses.empty() ? std::string() : trace.diagnoses[0].text;
}

TEST_CASE("emulator/joint_accesses/sectors") {
  const DeviceMemory memory;
  constexpr unsigned reads = 0, writes = 7;
  const Turn warp{reads, 0, 32}, lane{reads, 3, 1};
  for (const unsigned flip : {0U, 1U, 31U}) {  // in the order of the words, in pairs, from the last
    const Turn some{reads, 0, 32, flip};
    for (const unsigned word : {0U, 3U, 9U, 31U}) {
      const Turn last{writes, word, 1};
      CAPTURE(flip, word);
      CHECK_THAT(first_fault({some, lane, last}), has("writes 4 bytes"));
      CHECK_THAT(first_fault({lane, some, last}), has("writes 4 bytes"));
    }
    CHECK(first_fault({some, lane, {writes, 32, 1}}) == "");
  }
  CHECK_THAT(first_fault({lane, warp, {writes, 3, 1}}), has("other blocks read there"));
  const Turn unaligned{reads, 1, 20}, far{reads, 40, 1};
  for (const unsigned word : {1U, 7U, 8U, 20U, 40U}) {
    CHECK_THAT(first_fault({unaligned, far, {writes, word, 1}}), has("read"));
  }
  for (const unsigned word : {0U, 21U, 23U, 39U, 41U}) CHECK(first_fault({unaligned, far, {writes, word, 1}}) == "");
  CHECK_THAT(first_fault({{writes, 9, 1}, {reads, 8, 16}}), has("thread 1 of block (1, 0, 0)"));
}

/// All words are 1 at first.
TEST_CASE("emulator/joint_accesses/silent_stores") {
  const DeviceMemory memory;
  const Turn same{1, 0, 32}, seven{7, 0, 32}, eight{8, 0, 32}, load{0, 0, 32};
  CHECK(first_fault({seven, seven}) == "");
  CHECK(first_fault({same, load}) == "");
  CHECK_THAT(first_fault({seven, seven, load}), has("write"));
  CHECK_THAT(first_fault({seven, eight}), has("write"));
  CHECK_THAT(first_fault({same, seven}), has("write"));
  const emulator::Launch launch{.grid = 2, .block = 1, .threads = 1, .source_lines = false, .fatal = false};
  for (const bool differ : {false, true}) {
    auto* const many = reinterpret_cast<Many*>(DeviceMemory::words);
    CHECK(emulate(stores_many, launch, many, Many{{7}}, differ).diagnoses.size() == unsigned(differ));
  }
}

/// The number of a launch is used again later.
TEST_CASE("emulator/joint_accesses/many_launches") {
  const DeviceMemory memory;
  std::ranges::fill(DeviceMemory::words, 1U);
  const emulator::Launch launch{.grid = 2, .block = 32, .threads = 1, .source_lines = false, .fatal = false};
  for (unsigned i = 0; i < 256; ++i) {
    const Turn turns[]{{0, 0, i == 0 ? 32U : 0}, {7, 0, i == 255 ? 1U : 0}};
    CHECK(emulate(in_turn, launch, DeviceMemory::words, turns).diagnoses.empty());
  }
}
