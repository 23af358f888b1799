// SPDX-License-Identifier: MIT-0
//
// Sums of uint4 records, component-wise, modulo 2^32, by blocks that stay: as many as the GPU holds at once, each with
// many records a thread. What is left of the tree no longer matters; what matters is how many bytes are under way.
//
//   lanes  Each thread issues LOADS loads of 16 bytes before it needs the first, and again until the records are used
//          up. An H200 keeps its memory busy with some 48 KB on order for each multiprocessor; two blocks order 128
//          KiB. A load behind the end is left out by a predicate, so few records are one such round, too. Then once for
//          each block: a warp's sum word by word, by an instruction of compute capability 8.0 or by shuffles, and the
//          sum of these sums as in shuffle.cuh.
//   banks  16 sums stored by one lane each, read by 16 lanes at words 4t .. 4t + 3: no conflict, 18 passes in all,
//          after as many records as you like.
//
// Contract
//   launch  any number of blocks of exactly BLOCK threads, one-dimensional: two for each multiprocessor, but no more
//           than ceil(n / BLOCK), and one at least
//   in      n records, 16-byte aligned; not read when n is 0
//   out     one record per block; together they are the sum of all. Block b sums what lies at b * BLOCK .. b * BLOCK +
//           BLOCK and at the same place after every further gridDim.x * BLOCK records
//   n       any, including 0, which gives zero records
// For the sum of everything reduce `out` again with one block, into other memory.

namespace reduce_streaming_detail {

constexpr unsigned BLOCK = 512;  // threads per block; a multiple of 32, at most 1024
constexpr unsigned LOADS = 8;    // of 16 bytes, under way for each thread
constexpr unsigned WARP = 32;
constexpr unsigned WARPS = BLOCK / WARP;

static __device__ uint4 add(uint4 a, uint4 b) {
  return make_uint4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}

// The sum of a warp, in its lane 0. All its lanes must call.
static __device__ unsigned warp_sum(unsigned word) {
#if __CUDA_ARCH__ >= 800
  return __reduce_add_sync(0xFFFFFFFF, word);
#else
  for (unsigned lanes = WARP / 2; lanes > 0; lanes /= 2) word += __shfl_down_sync(0xFFFFFFFF, word, lanes);
  return word;
#endif
}
static __device__ uint4 warp_sum(uint4 record) {
  return make_uint4(warp_sum(record.x), warp_sum(record.y), warp_sum(record.z), warp_sum(record.w));
}

}  // namespace reduce_streaming_detail

// Two blocks on a multiprocessor: without the 2, ptxas aims at four and has no registers for eight loads.
__global__ void __launch_bounds__(reduce_streaming_detail::BLOCK, 2)
    reduce_streaming(const uint4* __restrict__ in, uint4* __restrict__ out, size_t n) {
  using namespace reduce_streaming_detail;
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
  uint4 sum = make_uint4(0, 0, 0, 0);

  // --- shared-memory section ---
  sum = warp_sum(mine);
  if (tid % WARP == 0) part[tid / WARP] = sum;
  __syncthreads();
  if (tid < WARP) sum = warp_sum(tid < WARPS ? part[tid] : make_uint4(0, 0, 0, 0));
  // --- end of section ---

  if (tid == 0) out[blockIdx.x] = sum;
}
