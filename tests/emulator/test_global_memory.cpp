// Accesses to global memory, counted by hand: sectors of 32 bytes.
#include <algorithm>
#include <array>
#include <numeric>
#include <random>
#include <vector>

#include <bankwise/emulator/core/global_patterns.hpp>
#include <bankwise/emulator/cuda.hpp>
#include <bankwise/emulator/cuda/copies.hpp>
#include <bankwise/trace/codec.hpp>
#include <bankwise/trace/report.hpp>
#include "kernel_tests.hpp"
#include "tests/catch_any.hpp"

using namespace bankwise;
using banks::Operation;

// Functions that this instrumented file and the emulator may share.
template class std::vector<std::uint32_t>;

namespace {

struct Body {
  float x, y, z;
};
struct alignas(128) Line {
  std::array<float, 32> words;
};

/// Arrays that begin at a multiple of 128 bytes, as on a GPU.
template <class T>
struct Aligned {
  explicit Aligned(std::size_t count, T value = T()) : lines((count * sizeof(T) + 127) / 128) {
    std::fill_n(data(), count, value);
  }
  T* data() { return reinterpret_cast<T*>(lines.data()); }
  std::vector<Line> lines;
};

__global__ void copy_row(const float* in, float* out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i];
}
__global__ void copy_column(const float* in, float* out) { out[threadIdx.x] = in[threadIdx.x * 64]; }
__global__ void second_member(const Body* in, float* out) { out[threadIdx.x] = in[threadIdx.x].y; }
__global__ void whole_bodies(const Body* in, Body* out) { out[threadIdx.x] = in[threadIdx.x]; }
__global__ void one_word_further(const float* in, float* out) { out[threadIdx.x] = in[threadIdx.x + 1]; }
__global__ void same_word(const float* in, float* out) { out[threadIdx.x] = __ldg(in + 7); }
__global__ void quarters(const float4* in, float4* out, unsigned n) {
  if (threadIdx.x < n) out[threadIdx.x] = in[threadIdx.x];
}
__global__ void bytes(const unsigned char* in, unsigned char* out) { out[threadIdx.x] = in[threadIdx.x]; }
__global__ void gather(const unsigned* index, const float* in, float* out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[index[i]];
}
__global__ void count(const unsigned* in, unsigned* bins, unsigned long long* sum) {
  atomicAdd(&bins[8 * in[threadIdx.x]], 1);
  if (atomicCAS(sum, 0, 1) == 7) atomicMax(&bins[0], threadIdx.x);
}
__global__ void tickets(unsigned* out) {
  __shared__ unsigned next;
  if (threadIdx.x == 0) next = 0;
  __syncthreads();
  out[atomicAdd(&next, 1)] = threadIdx.x;
}
__global__ void every_third(const float* in, float* out, unsigned n) {
  float sum = 0;
  for (unsigned i = threadIdx.x; i < n; i += blockDim.x) {
    if (i % 3 == 0) sum += in[i];
  }
  out[threadIdx.x] = sum;
}
struct Pair {
  float x, y;
};
struct Four {
  float x, y, z, w;
};
struct TwoDoubles {
  double x, y;
};
struct ThreeDoubles {
  double x, y, z;
};
struct TwoFours {
  float4 first, second;
};
struct Tagged {
  int tag;
  TwoDoubles value;
};
template <class T>
__global__ void copy_structure(const T* in, T* out) {
  __shared__ T shared[32];
  shared[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = shared[31 - threadIdx.x];
}
__global__ void copy_member(const Tagged* in, Tagged* out) {
  __shared__ Tagged shared[32];
  shared[threadIdx.x].value = in[threadIdx.x].value;
  __syncthreads();
  out[threadIdx.x].value = shared[31 - threadIdx.x].value;
}
/// The lane's array lies on its stack.
__global__ void local_array(const unsigned* in, unsigned* out) {
  unsigned counts[16] = {};
  for (unsigned i = 0; i < 16; ++i) counts[in[i] % 16] += i;
  out[threadIdx.x] = counts[threadIdx.x % 16];
}
__device__ float device_table[32];
constexpr float fixed_table[8] = {1, 2, 3, 4, 5, 6, 7, 8};
__global__ void tables(float* out) { out[threadIdx.x] = device_table[threadIdx.x] + fixed_table[threadIdx.x % 8]; }
__global__ void through_shared(const float* in, float* out) {
  __shared__ float tile[32];
  tile[threadIdx.x] = in[threadIdx.x * 2];
  __syncthreads();
  out[threadIdx.x] = tile[31 - threadIdx.x];
}
__global__ void copies(const float4* in, float4* out) {
  __shared__ float4 tile[32];
  __pipeline_memcpy_async(&tile[threadIdx.x], &in[2 * threadIdx.x], 16);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  out[threadIdx.x] = tile[threadIdx.x];
}
/// The lanes of one branch run ahead to the next ballot.
__global__ void ballots(const unsigned* in, unsigned* out) {
  __shared__ unsigned votes[32];
  for (unsigned i = threadIdx.x; i < 128; i += 32) {
    const bool is_odd = in[i] % 2 != 0;
    const unsigned vote = __ballot_sync(~0U, is_odd);
    if (is_odd) {
      votes[threadIdx.x] = vote;
    } else {
      out[i] = vote;
    }
  }
  __syncwarp();
  if (threadIdx.x == 0) out[0] = votes[1];
}
/// More notes than a lane keeps, and accesses between them.
__global__ void long_way(const float* in, float* out, unsigned n) {
  float sum = 0;
  for (unsigned i = 0; i < n; ++i) {
    if ((i + threadIdx.x) % 2 == 0) sum += in[32 * (i % 4) + threadIdx.x];
  }
  out[threadIdx.x] = sum;
}

emulator::Launch watched(unsigned grid, unsigned block, std::size_t patterns = 1000) {
  emulator::Launch launch{.grid = grid, .block = block, .global_patterns = patterns};
  launch.trace_blocks.resize(grid);
  std::iota(launch.trace_blocks.begin(), launch.trace_blocks.end(), 0);
  return launch;
}

struct Sectors {
  std::uint64_t accesses, lanes, sectors, ideal;
  bool operator==(const Sectors&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Sectors& s) {
  return out << s.accesses << " accesses of " << s.lanes << " lanes, " << s.sectors << " sectors, ideal " << s.ideal;
}

/// Of one operation, and of one width unless that is 0.
Sectors sectors_of(const trace::KernelTrace& trace, Operation operation, unsigned width = 0) {
  banks::SectorTally sum;
  for (const auto& line : trace::report(trace, *banks::find_architecture("sm_90")).global_lines) {
    if (line.operation == operation && (width == 0 || line.width == width)) sum.add(line.costs);
  }
  CHECK(sum.unknown == 0);
  return {sum.accesses, sum.lanes, sum.sectors, sum.ideal};
}

/// Of all accesses to shared memory, and of all stores to global memory; 0: they differ.
struct Widths {
  unsigned shared, global;
  bool operator==(const Widths&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Widths& w) { return out << w.shared << ", " << w.global; }

template <class T>
Widths widths_of(void kernel(const T*, T*), const char* architecture = "sm_90") {
  Aligned<T> in(32), out(32);
  emulator::Launch launch = watched(1, 32);
  launch.sectors_of = architecture;
  const auto trace = emulate(kernel, launch, in.data(), out.data());
  REQUIRE_FALSE(trace.patterns.empty());
  Widths widths{trace.patterns[0].width, 0};
  for (const auto& pattern : trace.patterns) widths.shared = pattern.width == widths.shared ? pattern.width : 0;
  for (const auto& pattern : trace.global_patterns) {
    if (pattern.operation != Operation::store) continue;
    CHECK((widths.global == 0 || widths.global == pattern.width));
    widths.global = pattern.width;
  }
  return widths;
}

std::string text_of(const trace::KernelTrace& trace) { return to_json_lines(trace::Trace{.kernels = {trace}}); }

std::string text_of(const emulator::GlobalPatterns& patterns) {
  trace::Builder builder({});
  patterns.put_into(builder, [&](std::uintptr_t pc) { return builder.site({.file = std::to_string(pc)}); });
  return trace::to_json_lines({.kernels = {builder.take()}});
}

}  // namespace

TEST_CASE("emulator/global_memory/patterns") {
  Aligned<float> in(4096), out(256);
  const auto row = emulate(copy_row, watched(2, 64), in.data(), out.data());
  CHECK(row.watches_global);
  CHECK(sectors_of(row, Operation::load) == Sectors{4, 128, 16, 16});
  CHECK(sectors_of(row, Operation::store) == Sectors{4, 128, 16, 16});
  REQUIRE(row.global_patterns.size() == 2);
  CHECK(row.global_patterns[0].count == 4);
  CHECK(row.sectors_read == 16);
  CHECK(row.sectors_written == 16);
  CHECK(row.sites[row.global_patterns[0].site].line == line_with(__FILE__, "out[i] = in[i];"));

  const auto column = emulate(copy_column, watched(1, 32), in.data(), out.data());
  CHECK(sectors_of(column, Operation::load) == Sectors{1, 32, 32, 4});
  const auto* bodies = reinterpret_cast<const Body*>(in.data());
  CHECK(sectors_of(emulate(second_member, watched(1, 32), bodies, out.data()), Operation::load) ==
        Sectors{1, 32, 12, 4});
  const auto whole = emulate(whole_bodies, watched(1, 32), bodies, reinterpret_cast<Body*>(out.data()));
  CHECK(sectors_of(whole, Operation::load, 4) == Sectors{3, 96, 36, 12});
  CHECK(whole.sectors_read == 12);
  const auto further = emulate(one_word_further, watched(1, 32), in.data(), out.data());
  CHECK(sectors_of(further, Operation::load) == Sectors{1, 32, 5, 4});
  CHECK(sectors_of(emulate(same_word, watched(1, 32), in.data(), out.data()), Operation::load) == Sectors{1, 32, 1, 1});
  const auto quarter = emulate(quarters, watched(1, 32), reinterpret_cast<const float4*>(in.data()),
                               reinterpret_cast<float4*>(out.data()), 5u);
  CHECK(sectors_of(quarter, Operation::load, 16) == Sectors{1, 5, 3, 3});
  CHECK(sectors_of(quarter, Operation::store, 16) == Sectors{1, 5, 3, 3});
  const auto narrow = emulate(bytes, watched(1, 40), reinterpret_cast<const unsigned char*>(in.data()),
                              reinterpret_cast<unsigned char*>(out.data()));
  CHECK(sectors_of(narrow, Operation::load, 1) == Sectors{2, 40, 2, 2});
}

// The widths of the instructions that nvcc 13.0 generates for 8.0, 9.0 and 10.0.
TEST_CASE("emulator/global_memory/structures") {
  CHECK(widths_of(copy_structure<Pair>) == Widths{8, 4});
  CHECK(widths_of(copy_structure<Body>) == Widths{4, 4});
  CHECK(widths_of(copy_structure<Four>) == Widths{16, 4});
  CHECK(widths_of(copy_structure<float4>) == Widths{16, 16});
  CHECK(widths_of(copy_structure<TwoDoubles>) == Widths{16, 8});
  CHECK(widths_of(copy_structure<ThreeDoubles>) == Widths{8, 8});
  CHECK(widths_of(copy_structure<TwoFours>) == Widths{16, 16});
  CHECK(widths_of(copy_member) == Widths{8, 8});  // at 8 bytes behind a multiple of 16, which is no fault
  // AMD's compilers load any 16 bytes together (LLVM 14, gfx90a).
  CHECK(widths_of(copy_structure<Four>, "gfx90a") == Widths{16, 16});
}

TEST_CASE("emulator/global_memory/operations") {
  Aligned<unsigned> in(64), bins(64);
  Aligned<unsigned long long> sum(1);
  for (unsigned i = 0; i < 32; ++i) in.data()[i] = i % 4;
  const auto counted = emulate(count, watched(1, 32), in.data(), bins.data(), sum.data());
  CHECK(sectors_of(counted, Operation::atomic, 4) == Sectors{1, 32, 4, 1});
  CHECK(sectors_of(counted, Operation::atomic, 8) == Sectors{1, 32, 1, 1});
  CHECK(counted.sectors_written == 5);
  CHECK(counted.sectors_read == 4 + 5);

  Aligned<float4> from(64), to(32);
  const auto copied = emulate(copies, watched(1, 32), from.data(), to.data());
  CHECK(sectors_of(copied, Operation::cp_async, 16) == Sectors{1, 32, 32, 16});
  CHECK(sectors_of(copied, Operation::load) == Sectors{0, 0, 0, 0});
  CHECK(sectors_of(copied, Operation::store) == Sectors{1, 32, 16, 16});
}

TEST_CASE("emulator/global_memory/divergence") {
  Aligned<float> in(400), out(32);
  // 100 elements: 11, 11, 10 and 2 lanes, and 4, 4, 4 and 1 sectors. They would fit into 2, 2, 2 and 1.
  const auto third = emulate(every_third, watched(1, 32), in.data(), out.data(), 100u);
  CHECK(sectors_of(third, Operation::load) == Sectors{4, 34, 13, 7});
  const auto far = emulate(long_way, watched(1, 32), in.data(), out.data(), 400u);
  CHECK(sectors_of(far, Operation::load) == Sectors{400, 400 * 16, 400 * 4, 400 * 2});
  std::vector<unsigned> numbers(128);
  std::iota(numbers.begin(), numbers.end(), 0);
  Aligned<unsigned> words(128), votes(128);
  std::ranges::copy(numbers, words.data());
  const auto apart = emulate(ballots, watched(1, 32), words.data(), votes.data());
  CHECK(sectors_of(apart, Operation::load) == Sectors{4, 128, 16, 16});
  CHECK(sectors_of(apart, Operation::store) == Sectors{5, 65, 17, 9});
}

TEST_CASE("emulator/global_memory/other_memory") {
  Aligned<unsigned> in(32), out(32);
  const auto local = emulate(local_array, watched(1, 32), in.data(), out.data());
  CHECK(sectors_of(local, Operation::load) == Sectors{16, 512, 16, 16});
  CHECK(sectors_of(local, Operation::store) == Sectors{1, 32, 4, 4});
  Aligned<float> floats(64), others(32);
  const auto variables = emulate(tables, watched(1, 32), floats.data());
  CHECK(sectors_of(variables, Operation::load).accesses == 1);
  const auto shared = emulate(through_shared, watched(1, 32), floats.data(), others.data());
  CHECK(sectors_of(shared, Operation::load) == Sectors{1, 32, 8, 4});
  CHECK(count_of(shared, Operation::load) == 1);
  const auto unwatched = emulate(copy_row, {.grid = 1, .block = 32}, floats.data(), others.data());
  CHECK_FALSE(unwatched.watches_global);
  CHECK(unwatched.global_patterns.empty());
}

TEST_CASE("emulator/global_memory/shared_functions") {
  Aligned<unsigned> out(64);
  const auto trace = emulate(tickets, watched(1, 64), out.data());
  CHECK(sectors_of(trace, Operation::load) == Sectors{0, 0, 0, 0});
  CHECK(sectors_of(trace, Operation::store).accesses == 2);
}

TEST_CASE("emulator/global_memory/wide_warps") {
  Aligned<float> in(128), out(128);
  auto launch = watched(2, 64);
  launch.warp = 64;
  const auto trace = emulate(copy_row, launch, in.data(), out.data());
  REQUIRE(trace.global_patterns.size() == 2);
  CHECK(trace.global_patterns[0].count == 2);
  CHECK(trace.global_patterns[0].addresses.size() == 64);
  CHECK(trace.global_patterns[0].addresses[63] == 252);
  CHECK(trace.sectors_read == 16);
}

TEST_CASE("emulator/global_memory/bound") {
  constexpr unsigned blocks = 40, threads = 96;
  Aligned<unsigned> index(blocks * threads);
  Aligned<float> in(1 << 14), out(blocks * threads);
  std::uint64_t sectors = 0;
  for (unsigned i = 0; i < blocks * threads; ++i) index.data()[i] = scramble(i) % (1 << 14);
  for (unsigned first = 0; first < blocks * threads; first += 32) {
    std::vector<unsigned> touched;
    for (unsigned i = first; i < first + 32; ++i) touched.push_back(index.data()[i] / 8);
    std::ranges::sort(touched);
    sectors += std::uint64_t(std::unique(touched.begin(), touched.end()) - touched.begin());
  }
  const auto run = [&](std::size_t patterns, unsigned host_threads) {
    auto launch = watched(blocks, threads, patterns);
    launch.threads = host_threads;
    return emulate(gather, launch, index.data(), in.data(), out.data());
  };
  const auto all = run(1000, 1), few = run(20, 1);
  CHECK(all.global_excess_accesses == 0);
  CHECK(all.global_patterns.size() == 122);
  CHECK(few.global_patterns.size() <= 20);
  CHECK(few.global_patterns.size() >= 5);
  CHECK(few.global_excess_accesses >= 100);
  for (const auto* trace : {&all, &few}) {
    const auto report = trace::report(*trace, *banks::find_architecture("sm_80"));
    CHECK(report.incomplete.empty());
    CHECK(report.global.accesses == 360);
    CHECK(report.global.sectors == sectors + 2 * 480);
    CHECK(trace->sectors_written == 480);
  }
  for (const unsigned host_threads : {2, 3, 8}) {
    for (int repeat = 0; repeat < 3; ++repeat) CHECK(text_of(run(20, host_threads)) == text_of(few));
  }
  // What no sector is known for is said.
  CHECK(trace::report(few, *banks::find_architecture("sm_13")).global.unknown == 360);
  // Those of another GPU, with warps of 64 lanes.
  auto launch = watched(blocks, threads, 20);
  launch.warp = 64;
  launch.sectors_of = "gfx942";
  const auto wide = emulate(gather, launch, index.data(), in.data(), out.data());
  CHECK(wide.global_excess_accesses > 0);
  CHECK(trace::report(wide, *banks::find_architecture("gfx942")).global.unknown == 0);
}

// A pattern that is found again counts, and touches sectors, as if it were new.
TEST_CASE("emulator/global_memory/again") {
  std::mt19937 random(36);
  const auto below = [&](unsigned n) { return std::uniform_int_distribution<unsigned>(0, n - 1)(random); };
  for (const std::size_t max_patterns : {10, 10000}) {
    emulator::GlobalPatterns added(max_patterns, "sm_90"), found(max_patterns, "sm_90");
    unsigned again = 0;
    constexpr std::uint64_t begin = std::uint64_t{1} << 32;
    emulator::GlobalPatterns::Access access;
    unsigned stride = 0, turn = 0, first = 0;
    for (unsigned i = 0; i < 20000; ++i) {
      if (i % 8 == 0) {
        constexpr unsigned strides[]{0, 4, 4, 8, 16, 32, 36, 128, 1000, 1 << 20, 1 << 24};
        const std::uint64_t some = (std::uint64_t{random()} << 32 | random()) | 1U << below(20);
        access = {0x1000 + below(3) * 16, below(3) == 0 ? some : 0xFFFFFFFF,
                  below(2) == 0 ? Operation::load : Operation::store, std::uint8_t(4U << below(3))};
        stride = strides[below(std::size(strides))];
        turn = below(4) == 0 ? 31 : 0;
      }
      if (i % 2 == 0) first = below(200) * 4;
      first += below(5) == 0 ? 4 : below(3) * 1024;
      std::array<std::uint32_t, 64> offsets{};
      std::array<std::uint64_t, 64> addresses{};
      for (unsigned lane = 0; lane < 64; ++lane) {
        offsets[lane] = first + (lane ^ turn) * stride;
        addresses[lane] = begin + offsets[lane];
      }
      const trace::Occurrence when{i, 0, 0, 0};
      added.add(access, addresses.data(), when);
      found.add_again(access, begin, offsets.data(), when) ? void(++again) : found.add(access, addresses.data(), when);
    }
    CHECK(again > max_patterns / 10);
    CHECK(text_of(found) == text_of(added));
  }
}
