// Launches: what is recorded, on how many threads, and what is refused.
#include <algorithm>
#include <numeric>
#include <thread>
#include <vector>

#include <bankwise/emulator/cuda.hpp>
#include <bankwise/trace/report.hpp>
#include "kernel_tests.hpp"
#include "tests/catch_any.hpp"

using namespace bankwise;
using bankwise::emulator::Dim3;
using bankwise::trace::KernelTrace;

namespace {

__global__ void reverse(unsigned* data) {
  __shared__ unsigned tile[64];
  const unsigned i = blockIdx.x * blockDim.x;
  tile[threadIdx.x] = data[i + threadIdx.x];
  __syncthreads();
  data[i + threadIdx.x] = tile[63 - threadIdx.x];
}

/// The first of two blocks waits a while for the other one.
__global__ void waits_for_other(unsigned* arrived, unsigned* met) {
  constexpr unsigned a_while = 1 << 20;
  atomicAdd(arrived, 1);
  for (unsigned i = 0; i < a_while && atomicAdd(arrived, 0) < 2; ++i) {
  }
  met[blockIdx.x] = atomicAdd(arrived, 0);
}

/// Two arrays in the one dynamic shared memory, as in CUDA.
__global__ void reverse_dynamic(unsigned* data) {
  extern __shared__ unsigned launched_words[];
  extern __shared__ unsigned char launched_bytes[];
  launched_words[threadIdx.x] = data[threadIdx.x];
  __syncthreads();
  data[threadIdx.x] = launched_bytes[4 * (blockDim.x - 1 - threadIdx.x)];
}

__global__ void three_dimensions(unsigned* out) {
  const unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  out[block * blockDim.x * blockDim.y * blockDim.z + thread] = 1000 * block + thread;
}

/// Both sides of the branch have as many basic blocks.
__global__ void takes_sides(const unsigned* in, unsigned* out) {
  unsigned value = in[threadIdx.x];
  if (threadIdx.x % 2 == 0) {
    for (unsigned i = 0; i < 4; ++i) value = value * in[i] + 1;
  } else {
    for (unsigned i = 0; i < 4; ++i) value = value / (in[i] + 1) + 7;
  }
  out[threadIdx.x] = value;
}

__global__ void fails_in_block(unsigned* out, unsigned which) {
  __shared__ unsigned tile[64];
  tile[threadIdx.x] = 0;
  __syncthreads();
  out[threadIdx.x] = tile[threadIdx.x + (blockIdx.x < which ? 0 : 64)];
}

/// Records of five words, as article a4, "Bank conflicts in reduction and prefix sum", packs them, copied as a whole.
struct __attribute__((packed, aligned(4))) Record {
  uint4 data;
  unsigned pad;
};
__global__ void copy_records(uint4* data) {
  __shared__ Record record[64];
  record[threadIdx.x].data = data[threadIdx.x];
  __syncthreads();
  data[threadIdx.x] = record[63 - threadIdx.x].data;
}

/// How a tile is cleared.
__global__ void clear_vectors(uint4* out) {
  __shared__ uint4 integers[64];
  __shared__ float4 numbers[64];
  integers[threadIdx.x] = make_uint4(0, 0, 0, 0);
  numbers[threadIdx.x] = make_float4(0, 0, 0, 0);
  __syncthreads();
  out[threadIdx.x] = integers[63 - threadIdx.x];
  if (numbers[63 - threadIdx.x].x != 0) out[threadIdx.x].y = 1;
}

/// A lock whose holder jumps forward while the other lanes try again.
__global__ void takes_turns(unsigned* out) {
  __shared__ unsigned lock, count;
  if (threadIdx.x == 0) lock = count = 0;
  __syncthreads();
  bool done = false;
  while (!done) {
    if (atomicCAS(&lock, 0, 1) == 0) {
      atomicAdd(&count, 2);
      atomicExch(&lock, 0);
      done = true;
    }
  }
  __syncthreads();
  *out = count;
}

/// Lanes leave a loop that is long for others, and store after it, together.
__global__ void waits_for_a_long_loop(unsigned* out) {
  __shared__ unsigned data[64];
  unsigned sum = 0;
  for (unsigned i = 0; i < 1000 * threadIdx.x; ++i) sum = 3 * sum + i;
  data[threadIdx.x] = sum;
  __syncthreads();
  *out = data[63];
}

__global__ void shuffles(unsigned* out) { out[0] = __shfl_xor_sync(0xFFFFFFFF, threadIdx.x, 1); }

__global__ void one_sided(unsigned* out) {
  [[maybe_unused]] __shared__ unsigned written[32];
  __shared__ unsigned read[32];
  written[threadIdx.x] = 1;
  out[threadIdx.x] = read[threadIdx.x];
}

__global__ void spins(unsigned* out) {
  __shared__ unsigned flag;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  if (threadIdx.x == 0) {
    while (atomicAdd(&flag, 0) == 0) {
    }
    *out = 1;
  }
  if (threadIdx.x == 63) atomicExch(&flag, 1);
}

__global__ void throws() { throw std::runtime_error("from a kernel"); }

std::vector<unsigned> counted(unsigned n) {
  std::vector<unsigned> words(n);
  std::iota(words.begin(), words.end(), 0U);
  return words;
}

bool same(const KernelTrace& a, const KernelTrace& b) {
  const auto pattern_key = [](const trace::Pattern& x) {
    return std::tie(x.operation, x.width, x.level, x.site, x.array, x.mask, x.addresses, x.count, x.first);
  };
  const auto step_key = [](const trace::OrderedAccess& x) { return std::tie(x.pattern, x.block, x.warp); };
  const auto equal = [](const auto& x, const auto& y, auto key) {
    return std::equal(x.begin(), x.end(), y.begin(), y.end(), [&](auto& i, auto& j) { return key(i) == key(j); });
  };
  return a.blocks == b.blocks && a.sites == b.sites && equal(a.patterns, b.patterns, pattern_key) &&
         equal(a.order, b.order, step_key);
}

__global__ void sums_of_floats(float* out, unsigned words) {
  __shared__ float sums[64];
  sums[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&sums[threadIdx.x % words], 1.0F);
  __syncthreads();
  out[threadIdx.x] = sums[threadIdx.x];
}

}  // namespace

TEST_CASE("emulator/launch/float_sum_is_a_range") {
  std::vector<float> out(64);
  const auto atomics = [&](unsigned words) {
    const auto trace = emulate(sums_of_floats, {.block = 64}, out.data(), words);
    const auto report = trace::report(trace, *banks::find_architecture("sm_90"));
    CHECK(conflicts(trace, "sm_90") == report.all.conflicts + report.all.more_conflicts);
    return report.atomics;
  };
  CHECK(atomics(64) == banks::Tally{2, 64, 6, 6, 0, 0, 2 * (2 * 3 - 3), 2 * (2 * 3 - 3)});
  const auto shared = atomics(1);  // 32 turns of three passes, for each warp
  CHECK(shared.passes == 2 * 32 * 3);
  CHECK(shared.more_passes > 0);
  CHECK(out[0] == 64);
}

TEST_CASE("emulator/launch/host_threads") {
  std::vector<KernelTrace> traces;
  for (const unsigned threads : {1U, 2U, 7U}) {
    auto data = counted(100 * 64);
    traces.push_back(emulate(
        reverse, {.grid = 100, .block = 64, .trace_blocks = {0, 57, 99}, .threads = threads, .record_order = true},
        data.data()));
    CHECK(data[57 * 64] == 57 * 64 + 63);
    CHECK(data[99 * 64 + 63] == 99 * 64);
  }
  CHECK(same(traces[0], traces[1]));
  CHECK(same(traces[0], traces[2]));
}

TEST_CASE("emulator/launch/simultaneous") {
  std::vector<std::jthread> threads;
  std::atomic<unsigned> right{0};
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&right] {
      auto data = counted(20 * 64);
      const auto trace = emulate(reverse, {.grid = 20, .block = 64, .threads = 2}, data.data());
      if (data[64] == 127 && accesses_of(trace) == 4) ++right;
    });
  }
  threads.clear();
  CHECK(right == 4);
}

TEST_CASE("emulator/launch/other_threads_help") {
  for (const unsigned threads : {1U, 2U, 3U}) {
    unsigned arrived = 0, met[2]{};
    emulate(waits_for_other, {.grid = 2, .block = 1, .threads = threads}, &arrived, met);
    CHECK(met[0] == std::min(threads, 2U));
    CHECK(met[1] == 2);
  }
}

TEST_CASE("emulator/launch/requested_blocks") {
  auto data = counted(10 * 64);
  const auto trace =
      emulate(reverse, {.grid = 10, .block = 64, .trace_blocks = {7, 2, 7}, .record_order = true}, data.data());
  CHECK(trace.kernel == "reverse");
  CHECK(trace.blocks == 2);
  CHECK(launched_blocks(trace) == 10);
  CHECK(accesses_of(trace) == 8);
  CHECK(trace.patterns.size() == 4);  // all blocks do the same
  CHECK(trace.patterns[0].count == 2);
  CHECK(trace.patterns[0].first.block == 2);
  CHECK(trace.levels == 2);
  REQUIRE(trace.order.size() == 8);
  CHECK(trace.order[3].block == 2);
  CHECK(trace.order[4].block == 7);
  REQUIRE(trace.arrays.size() == 1);
  CHECK(trace.arrays[0].name == "tile");
  CHECK(trace.arrays[0].bytes == 256);
  CHECK(trace.patterns[0].addresses[5] == 20);
  CHECK(trace.sites[trace.patterns[0].site].file == __FILE__);

  const auto none = emulate(reverse, {.grid = 10, .block = 64, .trace_blocks = {}}, data.data());
  CHECK(none.patterns.empty());
  CHECK(none.blocks == 0);

  auto untouched = counted(10 * 64);
  emulate(reverse, {.grid = 10, .block = 64, .trace_blocks = {3}, .run_traced_only = true}, untouched.data());
  CHECK(untouched[0] == 0);
  CHECK(untouched[3 * 64] == 3 * 64 + 63);
}

TEST_CASE("emulator/launch/excess_patterns") {
  auto data = counted(64);
  const auto trace = emulate(reverse, {.grid = 1, .block = 64, .pattern_bytes = 0}, data.data());
  CHECK(data[0] == 63);
  CHECK(trace.patterns.empty());
  CHECK(trace.excess_accesses == 4);
  CHECK(accesses_of(trace) == 4);
  CHECK(trace::report(trace, *banks::find_architecture("sm_90")).incomplete.size() == 1);
  CHECK_THROWS_WITH(conflicts(trace, "sm_90"), has("4 accesses of reverse did not fit into the trace"));
}

TEST_CASE("emulator/launch/warp_width") {
  for (const unsigned warp : {1U, 16U, 32U, 48U, 64U}) {
    auto data = counted(64);
    const auto trace = emulate(reverse, {.grid = 1, .block = 64, .warp = warp}, data.data());
    INFO(warp);
    CHECK(data[0] == 63);
    CHECK(accesses_of(trace) == 2 * ((64 + warp - 1) / warp));
  }
}

TEST_CASE("emulator/launch/three_dimensions") {
  std::vector<unsigned> out(2 * 3 * 4 * 5 * 6 * 7);
  emulate(three_dimensions, {.grid = {2, 3, 4}, .block = {5, 6, 7}}, out.data());
  for (unsigned i = 0; i < out.size(); ++i) REQUIRE(out[i] == 1000 * (i / 210) + i % 210);
}

TEST_CASE("emulator/launch/dynamic_arrays") {
  auto data = counted(64);
  const auto trace = emulate(reverse_dynamic, {.grid = 1, .block = 64, .dynamic_shared = 256}, data.data());
  const auto given = counted(64);
  CHECK(data == std::vector<unsigned>(given.rbegin(), given.rend()));
  REQUIRE(trace.arrays.size() == 1);
  CHECK(trace.arrays[0].name == "dynamic shared memory");
  CHECK(trace.arrays[0].bytes == 256);
}

TEST_CASE("emulator/launch/split_access") {
  std::vector<uint4> data(64, make_uint4(1, 2, 3, 4));
  const auto trace = emulate(copy_records, {.grid = 1, .block = 64}, data.data());
  CHECK(accesses_of(trace) == 16);  // four words in each of two warps, stored and loaded
  for (const auto& access : trace.patterns) CHECK(access.width == 4);
  CHECK(conflicts(trace, "sm_90") == 0);
  CHECK(data[0].w == 4);
}

TEST_CASE("emulator/launch/vector_of_constants") {
  std::vector<uint4> out(64);
  const auto trace = emulate(clear_vectors, {.grid = 1, .block = 64}, out.data());
  for (const auto& access : trace.patterns) {
    if (access.operation == banks::Operation::store) CHECK(access.width == 16);
  }
  CHECK(trace::report(trace, *banks::find_architecture("sm_90")).stores.conflicts == 0);
}

TEST_CASE("emulator/launch/lock_holder_progresses") {
  unsigned out = 0;
  emulate(takes_turns, {.grid = 1, .block = 8, .trace_blocks = {}}, &out);
  CHECK(out == 16);
}

TEST_CASE("emulator/launch/left_loop_waits") {
  unsigned out = 0;
  const auto trace = emulate(waits_for_a_long_loop, {.grid = 1, .block = 64}, &out);
  REQUIRE(accesses_of(trace) == 4);
  CHECK(trace.patterns[0].mask == 0xFFFFFFFF);
  CHECK(trace.patterns[1].mask == 0xFFFFFFFF);
}

TEST_CASE("emulator/launch/100000_blocks") {
  unsigned out = 0;
  emulate(shuffles, {.grid = 100000, .block = 32, .threads = 1}, &out);
  CHECK(out == 30);
}

TEST_CASE("emulator/launch/waiting_warp") {
  unsigned out = 0;
  emulate(spins, {.grid = 1, .block = 64}, &out);
  CHECK(out == 1);
}

TEST_CASE("emulator/launch/exceptions") {
  CHECK_THROWS_WITH(emulate(throws, {.grid = 1, .block = 4}), "from a kernel");
  std::vector<unsigned> out(64);
  for (const unsigned threads : {1U, 4U}) {
    const emulator::Launch launch{.grid = 50, .block = 64, .threads = threads};
    const auto diagnosis = diagnosis_of([&] { emulate(fails_in_block, launch, out.data(), 11U); });
    REQUIRE(diagnosis);
    CHECK(diagnosis->block == Dim3(11, 0, 0));
  }
}

TEST_CASE("emulator/launch/sides_of_a_branch") {
  std::vector<unsigned> in(32, 1), out(32);
  const KernelTrace trace = emulate(takes_sides, {.grid = 1, .block = 32}, in.data(), out.data());
  std::uint64_t whole = 0, half = 0;
  for (const auto& block : trace.basic_blocks) {
    (block.lanes == 32 * block.issued ? whole : half) += block.issued;
    CHECK((block.lanes == 32 * block.issued || block.lanes == 16 * block.issued));
  }
  CHECK(whole >= 2);  // before and after the branch
  CHECK(half >= 8);   // the loops
}

TEST_CASE("emulator/launch/arrays_that_are_only_read_or_written") {
  std::vector<unsigned> out(32);
  const emulator::Launch launch{.grid = 1, .block = 32, .allow = {trace::Fault::unwritten}};
  const trace::Report costs = report(emulate(one_sided, launch, out.data()), *banks::find_architecture("sm_90"));
  CHECK(costs.stores.accesses == 1);
  CHECK(costs.loads.accesses == 1);
}

TEST_CASE("emulator/launch/invalid") {
  unsigned word = 0;
  CHECK_THROWS_AS(emulate(spins, {.grid = 0, .block = 64}, &word), std::invalid_argument);
  CHECK_THROWS_AS(emulate(spins, {.grid = 1, .block = {64, 0}}, &word), std::invalid_argument);
  CHECK_THROWS_AS(emulate(spins, {.grid = {1, 70000}, .block = 64}, &word), std::invalid_argument);
  CHECK_THROWS_AS(emulate(spins, {.grid = 1, .block = {1, 1, 65}}, &word), std::invalid_argument);
  CHECK_THROWS_AS(emulate(spins, {.grid = 1, .block = 1025}, &word), std::invalid_argument);
  CHECK_THROWS_AS(emulate(spins, {.grid = 1, .block = 64, .warp = 65}, &word), std::invalid_argument);
  CHECK_THROWS_AS(emulate(spins, {.grid = 1, .block = 64, .warp = 0}, &word), std::invalid_argument);
  CHECK_THROWS_AS(emulate(spins, {.grid = 1, .block = 64, .dynamic_shared = 1 << 20}, &word), std::invalid_argument);
  CHECK_THROWS_AS(emulate(spins, {.grid = 1, .block = 64, .trace_blocks = {1}}, &word), std::invalid_argument);
}
