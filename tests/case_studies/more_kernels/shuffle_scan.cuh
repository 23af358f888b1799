// SPDX-License-Identifier: MIT-0
//
// Inclusive prefix sum of a block's words, modulo 2^32: lanes in registers, warps by shuffles, the block through one
// word of shared memory for each warp.
//
//   lanes  A lane has four words. The last lane of a warp tells its total; the first lanes of the first warp add up the
//          totals.
//   banks  One word or a few next to each other at a time, read by all lanes together: no conflict.
//
// Contract
//   launch  any number of blocks of BLOCK threads, one-dimensional
//   in      SLICE records of four words per block, of which the first BLOCK are read; 16-byte aligned
//   out     BLOCK records per block: each word the sum of all words up to and with its own; 16-byte aligned

namespace more_shuffle_scan_detail {

constexpr unsigned BLOCK = 256;                // threads, each with one record
constexpr unsigned LANES = 32;                 // of a warp
constexpr unsigned WARPS = BLOCK / LANES;      // at most LANES
constexpr unsigned SLICE = 1024;               // records of input per block
constexpr unsigned ALL = 0xFFFFFFFFu;          // lanes that take part in a shuffle
constexpr unsigned FIRST = (1u << WARPS) - 1;  // one lane for each warp

static __device__ unsigned scan_of_lanes(unsigned mask, unsigned width, unsigned lane, unsigned value) {
  for (unsigned distance = 1; distance < width; distance *= 2) {
    const unsigned before = __shfl_up_sync(mask, value, distance);
    if (lane >= distance) value += before;
  }
  return value;
}

}  // namespace more_shuffle_scan_detail

__global__ void __launch_bounds__(more_shuffle_scan_detail::BLOCK)
    more_shuffle_scan(const uint4* __restrict__ in, uint4* __restrict__ out) {
  using namespace more_shuffle_scan_detail;
  __shared__ unsigned totals[WARPS];

  const unsigned warp = threadIdx.x / LANES, lane = threadIdx.x % LANES;
  uint4 sums = in[size_t(blockIdx.x) * SLICE + threadIdx.x];
  sums.y += sums.x;
  sums.z += sums.y;
  sums.w += sums.z;

  const unsigned through = scan_of_lanes(ALL, LANES, lane, sums.w);
  if (lane == LANES - 1) totals[warp] = through;
  __syncthreads();
  if (threadIdx.x < WARPS) totals[lane] = scan_of_lanes(FIRST, WARPS, lane, totals[lane]);
  __syncthreads();
  unsigned before = through - sums.w;
  if (warp > 0) before += totals[warp - 1];

  out[size_t(blockIdx.x) * BLOCK + threadIdx.x] =
      make_uint4(before + sums.x, before + sums.y, before + sums.z, before + sums.w);
}
