// SPDX-License-Identifier: MIT-0
//
// Parallel reduction with warp shuffles (__shfl_down_sync): Luitjens 2014, "Faster Parallel Reductions on Kepler". Sums
// each tile of 2 * BLOCK uint4 records, component-wise, modulo 2^32, loaded as in first_add.cuh.
//
// Changed against first_add.cuh: each warp adds its records by shuffles instead of in shared memory, with one barrier
// for the block.
//
//   lanes  The lanes of a warp exchange register values in five steps, without a barrier or shared memory. One partial
//          sum per warp remains, and the first warp adds these in the same way. One barrier remains of the tree's nine.
//   banks  Lane 0 of each of the 8 warps stores a partial sum, and 8 lanes of the first warp read them in one access,
//          words 4t .. 4t + 3: no conflict, 9 passes (NVIDIA: wavefronts) instead of 135. (In addition, the warps issue
//          4 words x 5 steps x 9 warp sums = 180 shuffles, which have no bank conflicts.)
//
// Contract
//   launch  max(1, ceil(n / TILE)) blocks of exactly BLOCK threads, one-dimensional
//   in      n records, 16-byte aligned; not read when n is 0
//   out     one record per block: the sum of in[b * TILE .. min((b + 1) * TILE, n)) for block b
//   n       any, including 0, which gives one record of zeros
// To sum all n records, launch the kernel again on `out`, into another buffer, until one record is left.

namespace reduce_shuffle_detail {

constexpr unsigned BLOCK = 256;       // threads per block; a multiple of 32, at most 1024
constexpr unsigned TILE = 2 * BLOCK;  // records per block
constexpr unsigned WARP = 32;
constexpr unsigned WARPS = BLOCK / WARP;

// Sum over a warp, returned in lane 0. All lanes must call it.
static __device__ uint4 warp_sum(uint4 sum) {
  for (unsigned lanes = WARP / 2; lanes > 0; lanes /= 2) {
    sum.x += __shfl_down_sync(0xFFFFFFFF, sum.x, lanes);
    sum.y += __shfl_down_sync(0xFFFFFFFF, sum.y, lanes);
    sum.z += __shfl_down_sync(0xFFFFFFFF, sum.z, lanes);
    sum.w += __shfl_down_sync(0xFFFFFFFF, sum.w, lanes);
  }
  return sum;
}

}  // namespace reduce_shuffle_detail

__global__ void __launch_bounds__(reduce_shuffle_detail::BLOCK)
    reduce_shuffle(const uint4* __restrict__ in, uint4* __restrict__ out, size_t n) {
  using namespace reduce_shuffle_detail;
  __shared__ uint4 part[WARPS];

  const unsigned tid = threadIdx.x;
  const size_t i = size_t(blockIdx.x) * TILE + tid;
  // load two records per thread, coalesced; the first addition is in registers
  const uint4 first = i < n ? in[i] : make_uint4(0, 0, 0, 0);
  const uint4 second = i + BLOCK < n ? in[i + BLOCK] : make_uint4(0, 0, 0, 0);
  const uint4 mine = make_uint4(first.x + second.x, first.y + second.y, first.z + second.z, first.w + second.w);
  uint4 sum = make_uint4(0, 0, 0, 0);

  // --- shared-memory section ---
  // warp sums by shuffles; lane 0 of each warp stores one
  sum = warp_sum(mine);
  if (tid % WARP == 0) part[tid / WARP] = sum;
  __syncthreads();
  // the first warp adds the warps' sums
  if (tid < WARP) sum = warp_sum(tid < WARPS ? part[tid] : make_uint4(0, 0, 0, 0));
  // --- end of section ---

  // thread 0 stores the block's partial sum
  if (tid == 0) out[blockIdx.x] = sum;
}
