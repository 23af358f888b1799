// SPDX-License-Identifier: MIT-0
//
// The sum of n uint4 records, component-wise, modulo 2^32, in one launch: streaming.cuh, whose blocks add their sums by
// atomics; the last of them at each of the four components hands it out.
//
//   lanes  As in streaming.cuh. Then four threads of each block add a component each to a word of `state`. Its upper 16
//          bits count the blocks, its lower 48 add up what these bring: both in one addition, so that nobody can see
//          the one without the other, and no fence is needed. Who finds that all others have been there knows the sum.
//          Additions modulo 2^32 may come in any order. Floating-point numbers would depend on it: let the last block
//          add the blocks' sums, kept in memory, instead.
//   banks  As in streaming.cuh: no conflict, 18 passes a block.
//
// Contract
//   launch  up to 65535 blocks of exactly BLOCK threads, one-dimensional: two for each multiprocessor, but no more than
//           ceil(n / BLOCK), and one at least
//   in      n records, 16-byte aligned; not read when n is 0
//   out     one record: the sum of all
//   state   4 words of 8 bytes, 8-byte aligned, zero; they are zero again when the kernel ends, unless it was aborted.
//           One launch at a time may use them
//   n       any, including 0, which gives a zero record

namespace reduce_single_pass_detail {

constexpr unsigned BLOCK = 512;  // threads per block; a multiple of 32, at most 1024
constexpr unsigned LOADS = 8;    // of 16 bytes, under way for each thread
constexpr unsigned WARP = 32;
constexpr unsigned WARPS = BLOCK / WARP;
constexpr unsigned COUNT = 48;  // bit of a word of the state where the number of blocks begins

static __device__ uint4 add(uint4 a, uint4 b) {
  return make_uint4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}

// The sum of a warp, in each of its lanes. All must call.
static __device__ unsigned warp_sum(unsigned word) {
#if __CUDA_ARCH__ >= 800
  return __reduce_add_sync(0xFFFFFFFF, word);
#else
  for (unsigned bit = WARP / 2; bit > 0; bit /= 2) word += __shfl_xor_sync(0xFFFFFFFF, word, bit);
  return word;
#endif
}
static __device__ uint4 warp_sum(uint4 record) {
  return make_uint4(warp_sum(record.x), warp_sum(record.y), warp_sum(record.z), warp_sum(record.w));
}

}  // namespace reduce_single_pass_detail

// Two blocks on a multiprocessor: without the 2, ptxas aims at four and has no registers for eight loads.
__global__ void __launch_bounds__(reduce_single_pass_detail::BLOCK, 2)
    reduce_single_pass(const uint4* __restrict__ in, uint4* __restrict__ out, unsigned long long* state, size_t n) {
  using namespace reduce_single_pass_detail;
  __shared__ uint4 part[WARPS];

  const unsigned tid = threadIdx.x;
  const size_t step = size_t(gridDim.x) * BLOCK;
  uint4 mine = make_uint4(0, 0, 0, 0);
  for (size_t i = size_t(blockIdx.x) * BLOCK + tid; i < n; i += LOADS * step) {
    uint4 record[LOADS];
#pragma unroll
    for (unsigned k = 0; k < LOADS; ++k) {  // all loads before the first sum: none waits for another
      record[k] = i + k * step < n ? __ldcs(&in[i + k * step]) : make_uint4(0, 0, 0, 0);
    }
#pragma unroll
    for (unsigned k = 0; k < LOADS; ++k) mine = add(mine, record[k]);
  }

  uint4 sum = warp_sum(mine);
  if (tid % WARP == 0) part[tid / WARP] = sum;
  __syncthreads();
  if (tid < WARP) sum = warp_sum(tid < WARPS ? part[tid] : make_uint4(0, 0, 0, 0));

  if (tid < 4) {
    const unsigned component = tid == 0 ? sum.x : tid == 1 ? sum.y : tid == 2 ? sum.z : sum.w;
    const unsigned long long before = atomicAdd(&state[tid], 1ULL << COUNT | component);
    if (before >> COUNT == gridDim.x - 1) {  // nobody comes after
      reinterpret_cast<unsigned*>(out)[tid] = unsigned(before) + component;
      atomicExch(&state[tid], 0);  // for the next launch
    }
  }
}
