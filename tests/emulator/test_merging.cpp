// Which accesses a device compiler may drop or merge: kernels for which it may, each next to one for which it may not.
#include <bankwise/emulator/cuda.hpp>
#include <bankwise/trace/report.hpp>
#include "tests/catch_any.hpp"

using namespace bankwise;
using bankwise::emulator::Launch;

namespace {

constexpr unsigned BLOCK = 64;  // two warps
constexpr unsigned WORDS = 8 * BLOCK;

__global__ void pairs(unsigned* out, unsigned shift) {
  __shared__ unsigned data[WORDS + 1];
  data[2 * threadIdx.x + shift] = 1;
  data[2 * threadIdx.x + shift + 1] = 2;
  __syncthreads();
  out[threadIdx.x] = data[2 * threadIdx.x + shift] - data[2 * threadIdx.x + shift + 1];
}

__global__ void store_between(unsigned* out, bool same_array) {
  __shared__ unsigned data[WORDS], other[WORDS];
  data[threadIdx.x] = data[threadIdx.x + BLOCK] = data[threadIdx.x + 4 * BLOCK] = other[threadIdx.x] = 1;
  __syncthreads();
  const unsigned a = data[2 * threadIdx.x];
  if (same_array) {
    data[threadIdx.x + 4 * BLOCK] = a;
  } else {
    other[threadIdx.x] = a;
  }
  const unsigned b = data[2 * threadIdx.x + 1];
  __syncthreads();
  out[threadIdx.x] = a + b + data[threadIdx.x + 4 * BLOCK] + other[threadIdx.x];
}

__global__ void loop_of_eight(const unsigned* lengths, unsigned* out) {
  __shared__ unsigned data[WORDS];
#pragma GCC unroll 1
  for (unsigned i = 0; i < 8; ++i) data[i * BLOCK + threadIdx.x] = i;
  __syncthreads();
  unsigned sum = 0;
#pragma GCC unroll 1
  for (unsigned i = 0; i < lengths[threadIdx.x / 32]; ++i) sum += data[8 * threadIdx.x + i] << i;
  out[threadIdx.x] = sum;
}

__global__ void distances(unsigned* out, unsigned last) {
  __shared__ unsigned data[WORDS];
  for (unsigned i = 0; i < 8; ++i) data[i * BLOCK + threadIdx.x] = i;
  unsigned sum = 0;
#pragma GCC unroll 1
  for (unsigned distance = 1; distance <= last; distance *= 2) {
    __syncthreads();
    const unsigned first = 2 * threadIdx.x - threadIdx.x % distance;
    sum += data[first] - data[first + distance];
  }
  out[threadIdx.x] = sum;
}

__global__ void reversed(unsigned* out, bool bits) {
  __shared__ unsigned data[WORDS];
  const unsigned at = bits ? __brev(threadIdx.x) >> 25 : 2 * threadIdx.x;
  data[at] = 1;
  data[at + 1] = 2;
  __syncthreads();
  out[threadIdx.x] = data[threadIdx.x];
}

template <class Pointer>
__global__ void again(unsigned* out, unsigned step) {
  __shared__ unsigned data[WORDS];
  for (unsigned i = 0; i < 8; ++i) data[i * BLOCK + threadIdx.x] = i;
  __syncthreads();
  Pointer from = data;
  unsigned sum = 0;
#pragma GCC unroll 1
  for (unsigned i = 0; i < 4; ++i) {
    __asm__ volatile("" ::: "memory");  // g++ must load each time
    sum += from[threadIdx.x + i * step];
  }
  out[threadIdx.x] = sum;
}

/// The same word four times by inline PTX.
template <bool is_volatile>
__global__ void again_in_ptx(unsigned* out, bool as_volatile_load) {
  using namespace bankwise::emulator::device;
  __shared__ unsigned data[BLOCK];
  data[threadIdx.x] = 1;
  __syncthreads();
  const auto at = unsigned(__cvta_generic_to_shared(&data[threadIdx.x]));
  unsigned sum = 0, value = 0;
#pragma GCC unroll 1
  for (unsigned i = 0; i < 4; ++i) {
    if (as_volatile_load) {
      ptx<is_volatile>([] { return "ld.volatile.shared.u32 %0, [%1];"; }, ptx_out(value), ptx_in(at));
    } else {
      ptx<is_volatile>([] { return "ld.shared.u32 %0, [%1];"; }, ptx_out(value), ptx_in(at));
    }
    sum += value;
  }
  out[threadIdx.x] = sum;
}

/// Loads and stores in the source, and as they may be merged.
struct Counts {
  std::uint64_t loads, stores, merged_loads, merged_stores;
  bool operator==(const Counts&) const = default;
};

template <class... Arguments>
Counts counts(auto kernel, Arguments... arguments) {
  std::vector<unsigned> out(BLOCK, 8);
  const auto trace =
      emulate(kernel, {.block = BLOCK, .allow = {emulator::Fault::unwritten, emulator::Fault::race}}, arguments...);
  const auto report = trace::report(trace, *banks::find_architecture("sm_90"));
  const auto& second = merged(report);
  return {report.loads.accesses, report.stores.accesses, second.loads.accesses, second.stores.accesses};
}

std::vector<unsigned> out(BLOCK);

}  // namespace

TEST_CASE("emulator/merging/aligned_neighbours") {
  CHECK(counts(pairs, out.data(), 0U) == Counts{4, 4, 2, 2});
  CHECK(counts(pairs, out.data(), 1U) == Counts{4, 4, 4, 4});
}

TEST_CASE("emulator/merging/across_stores") {
  CHECK(counts(store_between, out.data(), false) == Counts{8, 10, 6, 10});
  CHECK(counts(store_between, out.data(), true) == Counts{8, 10, 8, 10});
}

TEST_CASE("emulator/merging/loop_iterations") {
  const unsigned same[]{8, 8}, different[]{8, 4};
  CHECK(counts(loop_of_eight, same, out.data()) == Counts{16, 16, 4, 16});
  CHECK(counts(loop_of_eight, different, out.data()) == Counts{12, 16, 12, 16});
}

TEST_CASE("emulator/merging/chance_neighbours") {
  CHECK(counts(distances, out.data(), 1U).merged_loads == 2);
  CHECK(counts(distances, out.data(), 4U) == Counts{12, 16, 12, 16});
}

TEST_CASE("emulator/merging/complex_index") {
  CHECK(counts(reversed, out.data(), false).merged_stores == 2);
  CHECK(counts(reversed, out.data(), true).merged_stores == 4);
}

TEST_CASE("emulator/merging/repeated_loads") {
  CHECK(counts(again<const unsigned*>, out.data(), 0U) == Counts{8, 16, 2, 16});
  CHECK(counts(again<const volatile unsigned*>, out.data(), 0U) == Counts{8, 16, 8, 16});
  CHECK(counts(again<const unsigned*>, out.data(), BLOCK) == Counts{8, 16, 8, 16});
  CHECK(counts(again_in_ptx<false>, out.data(), false) == Counts{8, 2, 2, 2});
  CHECK(counts(again_in_ptx<false>, out.data(), true) == Counts{8, 2, 8, 2});
  CHECK(counts(again_in_ptx<true>, out.data(), false) == Counts{8, 2, 8, 2});
}
