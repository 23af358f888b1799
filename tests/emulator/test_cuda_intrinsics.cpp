// CUDA's intrinsics: the results of kernels with them equal those of plain loops without them. Kernels and tests are
// both compiled for the emulator.
#undef NDEBUG  // of kernels too

#include "tests/catch_any.hpp"

// As in a kernel file.
#include <cuda_runtime.h>
#include <device_launch_parameters.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdint>
#include <ctime>
#include <limits>
#include <numeric>
#include <vector>

#include <bankwise/emulator/cuda.hpp>
#include "tests/emulator/kernel_tests.hpp"

// Kernel files have this.
using namespace std;

namespace {

using bankwise::emulate;
using bankwise::banks::Operation;
using bankwise::emulator::Launch;

constexpr unsigned full = 0xFFFFFFFF;
constexpr unsigned absent = 0xCDCDCDCD;  // the value of a lane that does not take part

// --- indices and vectors ---

__global__ void write_indices(uint3* thread, uint3* block, dim3* shape) {
  const unsigned in_block = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  const unsigned before = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  const unsigned i = before * (blockDim.x * blockDim.y * blockDim.z) + in_block;
  thread[i] = threadIdx;
  const uint3 copy = blockIdx;
  block[i] = copy;
  if (i == 0) shape[0] = blockDim, shape[1] = gridDim, shape[2] = dim3(threadIdx);
}

template <class T>
constexpr unsigned layout = 100 * sizeof(T) + alignof(T);

// --- forms of __shared__ ---

__constant__ int constants[4] = {1, 2, 3, 4};
__device__ int counter;
__shared__ int at_namespace_scope[64];

template <class T, int n>
__global__ void __launch_bounds__(64, 2) forms(const T* __restrict__ in, T* out) {
  __shared__ T plain[n];
  static __shared__ T with_static[n];
  volatile __shared__ T before[n];
  __shared__ volatile T behind[n];
  __shared__ alignas(16) T aligned[n];
  alignas(alignof(float4)) __shared__ T aligned_before[n];
  __shared__ __align__(8) struct { T member[n]; } record;
  extern __shared__ unsigned char dynamic[];
  T* tail = reinterpret_cast<T*>(dynamic);
  const int i = threadIdx.x, j = n - 1 - i;
  plain[i] = in[i];
  __syncthreads();
  with_static[i] = plain[j];
  __syncthreads();
  before[i] = with_static[j];
  __syncthreads();
  behind[i] = before[j];
  __syncthreads();
  aligned[i] = behind[j];
  __syncthreads();
  aligned_before[i] = aligned[j];
  __syncthreads();
  record.member[i] = aligned_before[j];
  __syncthreads();
  tail[i] = record.member[j];
  __syncthreads();
  at_namespace_scope[i] = tail[j];
  __syncthreads();
  __stcg(out + i, __ldg(in + i) + at_namespace_scope[j] + constants[i % 4]);
  __builtin_assume(n > 0);
  __threadfence();
}

__device__ __forceinline__ int forced(int x) { return x + 1; }
__device__ __noinline__ int called(int x) { return x * 2; }
struct __align__(16) Aligned {
  int x;
};
static_assert(alignof(Aligned) == 16 && sizeof(Aligned) == 16);

__global__ void fails(int* p, int how) {
  if (how == 1 && threadIdx.x == 3) __trap();
  assert(how != 2 && "two");
  p[threadIdx.x] = forced(called(how)) + CUT_BANK_CHECKER(p, threadIdx.x);
}

// --- barriers ---

__global__ void barriers(int* counts, int* ands, int* ors) {
  const int t = threadIdx.x;
  for (int k = 0; k <= 96; ++k) {
    const int count = __syncthreads_count(t < k), all = __syncthreads_and(t < k), any = __syncthreads_or(t < k);
    if (t == 95) counts[k] = count, ands[k] = all, ors[k] = any;
  }
}

__global__ void clocks(long long* out) {
  out[0] = clock64(), out[1] = clock();
  __syncthreads();
  out[2] = clock64(), out[3] = clock();
}

// --- warps ---

template <class T>
__device__ T value_of(unsigned thread) {
  return T(sizeof(T) == 8 ? 1e12 : 1e6) + T(thread);  // wider than 32 bits, if T is
}

constexpr int arguments = 72;  // from -36
template <class T>
__global__ void shuffles(T* out, int width) {
  const unsigned t = threadIdx.x;
  const T own = value_of<T>(t);
  for (int k = 0; k < arguments; ++k) {
    T* row = out + (k * 4) * blockDim.x + t;
    row[0] = __shfl_sync(full, own, k - 36, width);
    row[blockDim.x] = __shfl_up_sync(full, own, k % 32, width);
    row[2 * blockDim.x] = __shfl_down_sync(full, own, k % 32, width);
    row[3 * blockDim.x] = __shfl_xor_sync(full, own, k % 32, width);
  }
}

template <class T>
void check_shuffles(unsigned warp) {
  const unsigned threads = 128;
  const int lanes = min(32, int(warp));  // that exchange values
  for (int width = 1; width <= lanes; width *= 2) {
    vector<T> out(arguments * 4 * threads);
    emulate(shuffles<T>, {.block = threads, .warp = warp}, out.data(), width);
    size_t wrong = 0;
    for (int k = 0; k < arguments; ++k) {
      for (int t = 0; t < int(threads); ++t) {
        const int lane = t % 32, first = t - lane % width, by = k % 32;  // first of the section
        const int source = (k - 36 + 64 * width) % width;
        const T expected[4] = {value_of<T>(first + source), value_of<T>(t - by < first ? t : t - by),
                               value_of<T>(t + by >= first + width ? t : t + by),
                               value_of<T>((t ^ by) >= first + width || (t ^ by) / lanes != t / lanes ? t : t ^ by)};
        for (int how = 0; how < 4; ++how) wrong += out[(k * 4 + how) * threads + t] != expected[how];
      }
    }
    INFO("width " << width << ", warp " << warp);
    CHECK(wrong == 0);
  }
}

__global__ void partial(unsigned* out) {
  const unsigned t = threadIdx.x, lane = t % 32;
  unsigned* mine = out + t * 8;
  if (lane % 3 == 0) {
    mine[0] = __activemask();
    mine[1] = __ballot_sync(0x49249249, lane > 9);
    mine[2] = __shfl_sync(0x49249249, t, 4);   // takes no part
    mine[3] = __shfl_sync(0x49249249, t, 27);  // does
    mine[4] = __any_sync(0x49249249, lane == 1) + 2 * __any_sync(0x49249249, lane == 3);
    mine[5] = __all_sync(0x49249249, lane % 3 == 0) + 2 * __all_sync(0x49249249, lane == 0);
    __syncwarp(0x49249249);
  } else {
    mine[0] = __activemask();
    mine[1] = __ballot_sync(~0x49249249u, lane > 9);
    mine[6] = __reduce_add_sync(~0x49249249u, 1u);
  }
  mine[7] = __ballot_sync(full, t & 1);
}

struct Relations {
  unsigned any_int, any_double, all_same, all_other, add, least, greatest, bits_and, bits_or, bits_xor;
  int predicate_same, predicate_other, signed_add, signed_least, signed_greatest;
};
__global__ void relations(const unsigned* in, Relations* out) {
  const unsigned t = threadIdx.x, x = in[t];
  Relations r{};
  r.any_int = __match_any_sync(full, x % 5);
  r.any_double = __match_any_sync(full, double(x % 3) / 3);
  r.all_same = __match_all_sync(full, t / 32, &r.predicate_same);
  r.all_other = __match_all_sync(full, 1ull << 40 | (t % 32 == 7), &r.predicate_other);
  r.add = __reduce_add_sync(full, x);
  r.least = __reduce_min_sync(full, x), r.greatest = __reduce_max_sync(full, x);
  r.bits_and = __reduce_and_sync(full, x | 0xFFF), r.bits_or = __reduce_or_sync(full, x & 0xFFF);
  r.bits_xor = __reduce_xor_sync(full, x);
  r.signed_add = __reduce_add_sync(full, int(x)), r.signed_least = __reduce_min_sync(full, int(x));
  r.signed_greatest = __reduce_max_sync(full, int(x));
  out[t] = r;
}

}  // namespace

TEST_CASE("emulator/cuda_words/indices") {
  const dim3 grid(3, 2, 2), block(5, 4, 3);
  const unsigned n = unsigned(grid.count() * block.count());
  vector<uint3> thread(n), of(n);
  dim3 shape[3];
  emulate(write_indices, {.grid = grid, .block = block}, thread.data(), of.data(), shape);
  CHECK(shape[0] == block);
  CHECK(shape[1] == grid);
  CHECK(shape[2] == dim3(0, 0, 0));
  size_t wrong = 0;
  for (unsigned i = 0; i < n; ++i) {
    const unsigned t = i % 60, b = i / 60;
    wrong += thread[i].x != t % 5 || thread[i].y != t / 5 % 4 || thread[i].z != t / 20;
    wrong += of[i].x != b % 3 || of[i].y != b / 3 % 2 || of[i].z != b / 6;
  }
  CHECK(wrong == 0);
  CHECK(warpSize == 32);
  const dim3 one = 7, two = {7, 8};
  CHECK((one.x == 7 && one.y == 1 && one.z == 1 && two.y == 8 && two.z == 1));
}

TEST_CASE("emulator/cuda_words/vector_types") {
#define LAYOUTS(type, unsigned_type, one, two, three, four)                                                         \
  CHECK((layout<type##1> == one && layout<type##2> == two && layout<type##3> == three && layout<type##4> == four)); \
  CHECK((layout<unsigned_type##1> == one && layout<unsigned_type##2> == two));                                      \
  CHECK((layout<unsigned_type##3> == three && layout<unsigned_type##4> == four))
  LAYOUTS(char, uchar, 101, 202, 301, 404);  // 100 * size + alignment
  LAYOUTS(short, ushort, 202, 404, 602, 808);
  LAYOUTS(int, uint, 404, 808, 1204, 1616);
  LAYOUTS(long, ulong, 808, 1616, 2408, 3216);
  LAYOUTS(longlong, ulonglong, 808, 1616, 2408, 3216);
  LAYOUTS(float, float, 404, 808, 1204, 1616);
  LAYOUTS(double, double, 808, 1616, 2408, 3216);
#undef LAYOUTS
  CHECK((layout<double4_16a> == 3216 && layout<double4_32a> == 3232 && layout<dim3> == 1204));
  const float4 v = make_float4(1, 2, 3, 4);
  CHECK(v.x + 10 * v.y + 100 * v.z + 1000 * v.w == 4321);
  CHECK(is_same_v<decltype(char4::x), signed char>);
}

TEST_CASE("emulator/cuda_words/shared_arrays") {
  vector<int> in(64), out(64);
  iota(in.begin(), in.end(), 100);
  emulate(forms<int, 64>, {.block = 64, .dynamic_shared = 256}, in.data(), out.data());
  for (int i = 0; i < 64; ++i) CHECK(out[i] == in[i] + in[63 - i] + constants[i % 4]);  // reversed nine times
  CHECK(counter == 0);
}

TEST_CASE("emulator/cuda_words/trap_and_assert") {
  vector<int> p(32, 5);
  emulate(fails, {.block = 32}, p.data(), 0);
  CHECK(p == vector<int>(32, 6));
  for (int how : {1, 2}) {
    const auto diagnosis = diagnosis_of([&] { emulate(fails, {.block = 32}, p.data(), how); });
    REQUIRE(diagnosis);
    INFO(diagnosis->what());
    CHECK(diagnosis->fault == bankwise::emulator::Fault::trap);
    CHECK(diagnosis->site.file.ends_with("test_cuda_intrinsics.cpp"));  // the kernel's line, not the intrinsic's
  }
}

TEST_CASE("emulator/cuda_words/barrier_votes") {
  vector<int> counts(97), ands(97), ors(97);
  emulate(barriers, {.block = 96}, counts.data(), ands.data(), ors.data());
  for (int k = 0; k <= 96; ++k) CHECK((counts[k] == k && ands[k] == (k == 96) && ors[k] == (k > 0)));
}

TEST_CASE("emulator/cuda_words/clocks") {
  const std::clock_t before = std::clock();
  long long ticks[4];
  emulate(clocks, {.block = 1}, ticks);
  CHECK(is_sorted(begin(ticks), end(ticks)));
  CHECK(ticks[3] - ticks[0] > 0);
  CHECK(ticks[3] - ticks[0] < 100);
  while (std::clock() == before) {
  }
  CHECK(clock() > before);
}

TEST_CASE("emulator/cuda_words/shuffles") {
  for (unsigned warp : {16u, 32u, 64u}) {
    check_shuffles<int>(warp);
    check_shuffles<unsigned>(warp);
    check_shuffles<long>(warp);
    check_shuffles<unsigned long>(warp);
    check_shuffles<long long>(warp);
    check_shuffles<unsigned long long>(warp);
    check_shuffles<float>(warp);
    check_shuffles<double>(warp);
  }
}

TEST_CASE("emulator/cuda_words/divergent_votes") {
  for (unsigned warp : {32u, 64u}) {
    INFO("warp " << warp);
    const unsigned threads = 64, third = 0x49249249;
    vector<unsigned> out(threads * 8, 1234);
    emulate(partial, {.block = threads, .warp = warp}, out.data());
    size_t wrong = 0;
    for (unsigned t = 0; t < threads; ++t) {
      const unsigned* mine = &out[t * 8];
      const unsigned half = t & 32;
      if (t % 32 % 3 == 0) {
        wrong += mine[0] != third || mine[1] != (third & 0xFFFFFC00) || mine[2] != absent || mine[3] != half + 27;
        wrong += mine[4] != 2 || mine[5] != 1;
      } else {
        wrong += mine[0] != ~third || mine[1] != (~third & 0xFFFFFC00) || mine[6] != 21;
      }
      wrong += mine[7] != 0xAAAAAAAA;
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("emulator/cuda_words/match_and_reduce") {
  for (unsigned warp : {32u, 64u}) {
    INFO("warp " << warp);
    vector<unsigned> in(96);
    for (unsigned i = 0; i < in.size(); ++i) in[i] = scramble(i);
    vector<Relations> out(in.size());
    emulate(relations, {.block = unsigned(in.size()), .warp = warp}, in.data(), out.data());
    size_t wrong = 0;
    for (unsigned t = 0; t < in.size(); ++t) {
      Relations r{0, 0, full, 0, 0, ~0u, 0, ~0u, 0, 0, 1, 0, 0, INT_MAX, INT_MIN};
      for (unsigned lane = 0; lane < 32; ++lane) {
        const unsigned x = in[t / 32 * 32 + lane];
        r.any_int |= unsigned(x % 5 == in[t] % 5) << lane, r.any_double |= unsigned(x % 3 == in[t] % 3) << lane;
        r.add += x, r.bits_and &= x | 0xFFF, r.bits_or |= x & 0xFFF, r.bits_xor ^= x;
        r.least = std::min(r.least, x), r.greatest = std::max(r.greatest, x);
        r.signed_least = std::min(r.signed_least, int(x)), r.signed_greatest = std::max(r.signed_greatest, int(x));
      }
      r.signed_add = int(r.add);
      wrong += memcmp(&r, &out[t], sizeof r) != 0;
    }
    CHECK(wrong == 0);
  }
}
