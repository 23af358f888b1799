// SPDX-License-Identifier: MIT-0
//
// Sum of each tile of 2 * BLOCK uint4 records, component-wise, modulo 2^32: first_add.cuh with warps that add by
// shuffles.
//
//   lanes  A warp's lanes hand each other registers, in five steps without a barrier or shared memory. One sum a warp
//          remains; the first warp adds those in the same way. One barrier instead of nine.
//   banks  The 8 sums are stored by one lane each and read by 8 lanes at once, words 4t .. 4t + 3: no conflict, and
//          9 passes instead of 135. (A shuffle takes a turn of its own, without banks: 4 words, 5 steps, 9 times.)
//
// Contract
//   launch  max(1, ceil(n / TILE)) blocks of exactly BLOCK threads, one-dimensional
//   in      n records, 16-byte aligned; not read when n is 0
//   out     one record per block: the sum of in[block * TILE .. block * TILE + TILE), as far as n reaches
//   n       any, including 0, which gives one zero record
// For the sum of everything reduce `out` again, into other memory, until one record is left.

namespace reduce_shuffle_detail {

constexpr unsigned BLOCK = 256;       // threads per block; a multiple of 32, at most 1024
constexpr unsigned TILE = 2 * BLOCK;  // records per block
constexpr unsigned WARP = 32;
constexpr unsigned WARPS = BLOCK / WARP;

// The sum of a warp, in its lane 0. All its lanes must call.
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
  const uint4 first = i < n ? in[i] : make_uint4(0, 0, 0, 0);
  const uint4 second = i + BLOCK < n ? in[i + BLOCK] : make_uint4(0, 0, 0, 0);
  const uint4 mine = make_uint4(first.x + second.x, first.y + second.y, first.z + second.z, first.w + second.w);
  uint4 sum = make_uint4(0, 0, 0, 0);

  // --- shared-memory section ---
  sum = warp_sum(mine);
  if (tid % WARP == 0) part[tid / WARP] = sum;
  __syncthreads();
  if (tid < WARP) sum = warp_sum(tid < WARPS ? part[tid] : make_uint4(0, 0, 0, 0));
  // --- end of section ---

  if (tid == 0) out[blockIdx.x] = sum;
}
