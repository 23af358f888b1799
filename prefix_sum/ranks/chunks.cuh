// SPDX-License-Identifier: MIT-0
//
// Last launch of a prefix sum on several GPUs (reduce-then-scan): persistent blocks scan their chunks tile by tile,
// from known offsets. The exclusive prefix sum of n words of this rank, modulo 2^32, after those of the lower ranks.
//
// A block knows the sum of everything before its chunk, and of everything up to its end, so it can run forward or
// backward. Backward, it reads first what sums.cuh has read last and what the L2 cache still holds.
//
//   lanes  DRAM-bound. A thread loads the 16 words of its next tile while it scans the current one; two resident blocks
//          per multiprocessor then have 64 KiB in flight. Rows of 128 words are scanned by warp shuffles.
//   banks  Lane 0 of each warp stores a sum, and all warps load them in one access: no conflict.
//
// Contract
//   launch  as many blocks of exactly BLOCK threads as sums.cuh had
//   in      n words, 16-byte aligned; not read when n is 0
//   out     n words, 16-byte aligned; must not overlap `in`
//   sums    one word per block, from offsets.cuh
//   totals  one word per rank: the sum of all its words; those up to `rank` are read
//   n       any, including 0
//   backward  0: each block from its first tile to its last; otherwise from its last to its first

#include "parts.hpp"

namespace scan_ranks_chunks_detail {

using namespace scan_ranks_detail;

constexpr unsigned BLOCK = 512;                // threads per block; a multiple of 32
constexpr unsigned WARPS = BLOCK / WARP;       // at most 32, because one warp adds up their sums
constexpr unsigned ROWS = 4;                   // 16-byte loads per lane
constexpr unsigned ROW = 4 * WARP;             // words per warp and row
constexpr unsigned TILE = WARPS * ROWS * ROW;  // words per tile

// Four words from index i on; zero past the end.
static __device__ uint4 load(const unsigned* in, size_t i, size_t n) {
  if (i + 3 < n) return __ldcs(reinterpret_cast<const uint4*>(in + i));  // cache-streaming: not read again
  return make_uint4(i < n ? in[i] : 0, i + 1 < n ? in[i + 1] : 0, i + 2 < n ? in[i + 2] : 0, 0);
}

}  // namespace scan_ranks_chunks_detail

__global__ void __launch_bounds__(scan_ranks_chunks_detail::BLOCK, 2)
    scan_ranks_chunks(const unsigned* __restrict__ in, unsigned* __restrict__ out, const unsigned* __restrict__ sums,
                      const unsigned* __restrict__ totals, size_t n, size_t rank, size_t backward) {
  using namespace scan_ranks_chunks_detail;
  __shared__ unsigned warp_total[2][WARPS];  // of two tiles, alternating

  const unsigned lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
  const unsigned mine = warp * (ROWS * ROW) + 4 * lane;  // the lane's first word in a tile
  const size_t tiles = (n + TILE - 1) / TILE;
  // backward, the first blocks also take the last chunks
  const size_t chunk = backward ? gridDim.x - 1 - blockIdx.x : blockIdx.x;
  const size_t first = tiles * chunk / gridDim.x, end = tiles * (chunk + 1) / gridDim.x;
  if (first == end) return;

  // the sum before the chunk, or up to its end
  unsigned lower = 0;
  for (size_t r = lane; r < rank; r += WARP) lower += totals[r];
  unsigned known = warp_sum(lower);
  if (backward) {
    known += chunk + 1 < gridDim.x ? sums[chunk + 1] : totals[rank];
  } else {
    known += sums[chunk];
  }

  uint4 words[ROWS];
  const size_t start = backward ? end - 1 : first;
#pragma unroll
  for (unsigned row = 0; row < ROWS; ++row) words[row] = load(in, start * TILE + mine + row * ROW, n);

  for (size_t k = 0; k < end - first; ++k) {
    const size_t tile = backward ? end - 1 - k : first + k;
    // start the loads of the next tile
    uint4 next[ROWS];
    const bool more = k + 1 < end - first;
    const size_t following = backward ? tile - 1 : tile + 1;
#pragma unroll
    for (unsigned row = 0; row < ROWS; ++row) {
      next[row] = more ? load(in, following * TILE + mine + row * ROW, n) : make_uint4(0, 0, 0, 0);
    }

    // scan the rows by shuffles
    unsigned before[ROWS];
    const unsigned of_warp = scan_rows(words, before, 0);

    // add the sums of the lower warps, and of everything before the tile
    if (lane == 0) warp_total[k % 2][warp] = of_warp;
    __syncthreads();
    const unsigned other = lane < WARPS ? warp_total[k % 2][lane] : 0;
    const unsigned total = warp_sum(other);
    if (backward) known -= total;
    const unsigned offset = known + warp_sum(lane < warp ? other : 0);
    if (!backward) known += total;

      // store the results, coalesced
#pragma unroll
    for (unsigned row = 0; row < ROWS; ++row) {
      store(out, tile * TILE + mine + row * ROW, n, offset + before[row], words[row]);
      words[row] = next[row];
    }
  }
}
