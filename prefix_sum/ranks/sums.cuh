// SPDX-License-Identifier: MIT-0
//
// First launch of a prefix sum on several GPUs (reduce-then-scan): the sum of each block's chunk of this GPU's words,
// modulo 2^32. Then come offsets.cuh, an exchange of the GPUs' totals, and chunks.cuh.
//
//   lanes  DRAM-bound, like the grid-stride loop of a reduction, but each block reads its own consecutive words. Every
//          thread has eight 16-byte loads in flight.
//   cache  Each block reads its chunk from front to back, so the L2 cache holds the end of every chunk afterwards, as
//          far as it can. Where chunks.cuh runs backward, it begins there.
//   banks  Lane 0 of each warp stores a sum, and the first warp loads them in one access: no conflict.
//
// Contract
//   launch  any number of blocks of exactly BLOCK threads, one-dimensional: two per multiprocessor, but at most
//           ceil(n / TILE), and at least one; chunks.cuh must have the same number
//   in      n words, 16-byte aligned; not read when n is 0
//   sums    one word per block: the sum of the tiles from tiles * b / blocks up to tiles * (b + 1) / blocks
//   n       any, including 0

#include "parts.hpp"

namespace scan_ranks_sums_detail {

using namespace scan_ranks_detail;

constexpr unsigned BLOCK = 512;        // threads per block; a multiple of 32, at most 1024
constexpr unsigned TILE = 16 * BLOCK;  // words per tile
constexpr unsigned LOADS = 8;          // 16-byte loads in flight per thread
constexpr unsigned WARPS = BLOCK / WARP;

}  // namespace scan_ranks_sums_detail

__global__ void __launch_bounds__(scan_ranks_sums_detail::BLOCK, 2)
    scan_ranks_sums(const unsigned* __restrict__ in, unsigned* __restrict__ sums, size_t n) {
  using namespace scan_ranks_sums_detail;
  __shared__ unsigned part[WARPS];

  const unsigned tid = threadIdx.x;
  const size_t tiles = (n + TILE - 1) / TILE;
  const size_t first = tiles * blockIdx.x / gridDim.x * TILE;
  const size_t end = min(tiles * (blockIdx.x + 1) / gridDim.x * TILE, n);
  const size_t whole = end & ~size_t(3);  // words in 16-byte loads

  // the block's words, coalesced: eight 16-byte loads in flight per thread
  unsigned sum = 0;
  for (size_t i = first + 4 * tid; i < whole; i += LOADS * 4 * BLOCK) {
    uint4 words[LOADS];
#pragma unroll
    for (unsigned k = 0; k < LOADS; ++k) {
      const size_t at = i + k * 4 * BLOCK;
      words[k] = at < whole ? *reinterpret_cast<const uint4*>(in + at) : make_uint4(0, 0, 0, 0);
    }
#pragma unroll
    for (unsigned k = 0; k < LOADS; ++k) sum += words[k].x + words[k].y + words[k].z + words[k].w;
  }
  if (first < end && whole + tid < end) sum += in[whole + tid];  // up to three words at the end

  // warp sums; the first warp adds them
  sum = warp_sum(sum);
  if (tid % WARP == 0) part[tid / WARP] = sum;
  __syncthreads();
  if (tid < WARP) sum = warp_sum(tid < WARPS ? part[tid] : 0);
  if (tid == 0) sums[blockIdx.x] = sum;
}
