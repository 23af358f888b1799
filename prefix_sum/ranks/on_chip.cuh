// SPDX-License-Identifier: MIT-0
//
// Prefix sum on several GPUs in one launch: the blocks add up their words, exchange the sums, also between GPUs, and
// scan their words. Each block scans backward: its last seven tiles are still in shared memory, on an H200 30 MB in all
// multiprocessors together, and earlier ones may still be in the L2 cache. No launches in between, and for shares that
// fit, memory is read once instead of twice.
//
//   tiles  A block has consecutive tiles. TMA loads them into a ring of STAGES tiles in ascending order, then, during
//          the scan, those that are not in the ring in descending order. In both, tile k uses stage k % STAGES, and the
//          same parity of its mbarrier.
//   cache  evict_last keeps the tiles of the first pass in the L2 cache, and cache-streaming stores evict each other.
//   link   Messages as in parts.hpp. A rank sends a message only after the receiver has begun the same launch, so the
//          receiver has read the message of the launch before.
//   lanes  TMA loads. Rows of 128 words are scanned by warp shuffles, as in ../ring.cuh.
//   banks  No conflict: 16-byte accesses to consecutive words. Lane 0 of each warp stores a sum, and all warps load
//          them in one access.
//
// Needs: compute capability 9.0
// No OpenCL port: OpenCL has no TMA, and its devices cannot access each other's memory
// Not emulated: it waits for other GPUs, and TMA and mbarrier instructions are inline PTX
//
// Contract
//   launch  on every rank, as often as on the others: at most as many blocks of exactly BLOCK threads as are resident,
//           one-dimensional: one per multiprocessor. With more, the launch may never end: each block waits for all
//           lower ones, and CUDA does not guarantee that these start first. 4 * STAGES * TILE bytes of dynamic shared
//           memory, which must be allowed first: cudaFuncAttributeMaxDynamicSharedMemorySize
//   in      n words, 16-byte aligned (otherwise the bulk copy faults): this rank's share; not read when n is 0
//   out     n words, 16-byte aligned: out[i] = sum of the lower ranks' words and of in[0 .. i), modulo 2^32. Must not
//           overlap `in`
//   state   BEGUN + 2 * ranks + blocks words of 8 bytes, 8-byte aligned, zero before the first launch, in memory that
//           the other ranks can write; to be zeroed again on all ranks after a launch that did not end
//   states  the addresses of all ranks' `state`, by rank
//   n       any, including 0

#include "parts.hpp"

namespace scan_ranks_on_chip_detail {

using namespace scan_ranks_detail;

constexpr unsigned BLOCK = 1024;               // threads per block; a multiple of 32
constexpr unsigned WARPS = BLOCK / WARP;       // at most 32, because one warp adds up their sums
constexpr unsigned ROWS = 2;                   // 16-byte loads per lane
constexpr unsigned ROW = 4 * WARP;             // words per warp and row
constexpr unsigned TILE = WARPS * ROWS * ROW;  // words per tile
constexpr unsigned STAGES = 7;                 // tiles in the ring
static_assert(STAGES * TILE * 4 + 2048 <= 227 * 1024, "the ring and a little more fit into shared memory");

#if __CUDA_ARCH__ >= 900
// Indices in `state`. Of this rank: the number of the last launch, the sum of its blocks so far (their number is above
// bit COUNT_SHIFT), the number of blocks that have ended. From each rank: that it has begun, and its sum. Then this
// rank's sums, by block.
constexpr unsigned LAUNCH = 0, UNFINISHED = 1, ENDED = 2, BEGUN = 32;
constexpr unsigned COUNT_SHIFT = 48;

#endif

}  // namespace scan_ranks_on_chip_detail

__global__ void __launch_bounds__(scan_ranks_on_chip_detail::BLOCK, 1)
    scan_ranks_on_chip(const unsigned* __restrict__ in, unsigned* __restrict__ out, unsigned long long* state,
                       unsigned long long* const* states, size_t n, size_t rank, size_t ranks) {
#if __CUDA_ARCH__ >= 900
  using namespace scan_ranks_on_chip_detail;
  extern __shared__ __align__(128) unsigned ring[];
  __shared__ Word64 full[STAGES];            // mbarriers: the stage's tile has arrived
  __shared__ unsigned warp_sum[2][WARPS];    // of this block, and of everything before it
  __shared__ unsigned warp_total[2][WARPS];  // of two tiles, alternating

  const unsigned lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
  const unsigned mine = warp * (ROWS * ROW) + 4 * lane;  // the lane's first word in a tile
  Word64 *const totals = state + BEGUN + ranks, *const sums = totals + ranks;
  const unsigned launch = unsigned(state[LAUNCH]) + 1;
  const Word64 tag = Word64(launch) << 32;
  if (blockIdx.x == 0) {
    for (size_t r = threadIdx.x; r < ranks; r += BLOCK) send(states[r] + BEGUN + rank, tag);
  }

  // this block's tiles, counted from its first
  const size_t all_tiles = (n + TILE - 1) / TILE;
  const size_t first = all_tiles * blockIdx.x / gridDim.x, end = all_tiles * (blockIdx.x + 1) / gridDim.x;
  const unsigned tiles = unsigned(end - first);
  const unsigned* const from = in + first * TILE;
  const size_t words_here = min(n, end * TILE) - min(n, first * TILE);

  // Starts the copy of a tile. Up to three words at the end of the input are read directly. Thread 0 calls it.
  const auto load = [&](unsigned k) {
    const size_t left = words_here - size_t(k) * TILE;
    const unsigned stage = k % STAGES;
    begin_copy(ring + stage * TILE, from + size_t(k) * TILE, unsigned(min(left & ~size_t(3), size_t(TILE))),
               &full[stage]);
  };
  // Waits for a tile and returns four words of this lane; zero past the end.
  const auto words_of = [&](unsigned k, unsigned row) {
    const unsigned i = mine + row * ROW;
    const size_t left = words_here - size_t(k) * TILE;
    if (i + 3 < left) return *reinterpret_cast<const uint4*>(ring + k % STAGES * TILE + i);
    const unsigned* const last = from + size_t(k) * TILE + i;
    return make_uint4(i < left ? last[0] : 0, i + 1 < left ? last[1] : 0, i + 2 < left ? last[2] : 0, 0);
  };

  if (threadIdx.x == 0) {
    for (unsigned stage = 0; stage < STAGES; ++stage) prepare_phases(&full[stage]);
    then_the_copy_engine();
    for (unsigned k = 0; k < min(tiles, STAGES); ++k) load(k);
  }
  __syncthreads();

  // first pass: add up all words
  unsigned sum = 0;
  for (unsigned k = 0; k < tiles; ++k) {
    wait_for_copy(&full[k % STAGES], k / STAGES % 2);
    for (unsigned row = 0; row < ROWS; ++row) {
      const uint4 words = words_of(k, row);
      sum += words.x + words.y + words.z + words.w;
    }
    if (k + STAGES >= tiles) continue;  // the tile stays; the same for all threads
    __syncthreads();                    // the stage has been read
    if (threadIdx.x == 0) {
      then_the_copy_engine();
      load(k + STAGES);
    }
  }
  sum = __reduce_add_sync(ALL, sum);
  if (lane == 0) warp_sum[0][warp] = sum;
  __syncthreads();
  const unsigned total = __reduce_add_sync(ALL, lane < WARPS ? warp_sum[0][lane] : 0);

  // publish the sum; the last block sends the rank's sum to the higher ranks
  if (warp == 0) {
    Word64 so_far = 0;
    if (lane == 0) {
      send(&sums[blockIdx.x], tag | total);
      const Word64 added = (Word64(1) << COUNT_SHIFT) + total;
      so_far = atomicAdd(&state[UNFINISHED], added) + added;
    }
    so_far = __shfl_sync(ALL, so_far, 0);
    if (so_far >> COUNT_SHIFT == gridDim.x) {
      if (lane == 0) atomicExch(&state[UNFINISHED], 0ULL);  // ready for the next launch
      for (size_t r = rank + 1 + lane; r < ranks; r += WARP) {
        // a rank may be ahead, if it needs nothing from this one
        while (int(unsigned(received(&state[BEGUN + r]) >> 32) - launch) < 0) continue;
        send(states[r] + BEGUN + ranks + rank, tag | unsigned(so_far));
      }
    }
  }

  // everything before this block: the sums of lower blocks and of lower ranks
  unsigned lower = 0;
  for (size_t i = threadIdx.x; i < blockIdx.x + rank; i += BLOCK) {
    lower += wait_for(i < blockIdx.x ? &sums[i] : &totals[i - blockIdx.x], launch);
  }
  lower = __reduce_add_sync(ALL, lower);
  if (lane == 0) warp_sum[1][warp] = lower;
  __syncthreads();
  unsigned known = total + __reduce_add_sync(ALL, lane < WARPS ? warp_sum[1][lane] : 0);  // up to the end of the tiles

  // second pass: scan the tiles, from the last to the first
  for (unsigned k = tiles; k-- > 0;) {
    wait_for_copy(&full[k % STAGES], k / STAGES % 2);

    // scan the rows by shuffles
    uint4 words[ROWS];
    unsigned before[ROWS];
    for (unsigned row = 0; row < ROWS; ++row) words[row] = words_of(k, row);
    const unsigned of_warp = scan_rows(words, before, 0);

    // add the sums of the lower warps, and of everything before the tile
    if (lane == 0) warp_total[k % 2][warp] = of_warp;
    __syncthreads();  // also: the stage has been read
    if (threadIdx.x == 0 && k >= STAGES) {
      then_the_copy_engine();
      load(k - STAGES);
    }
    const unsigned other = lane < WARPS ? warp_total[k % 2][lane] : 0;
    known -= __reduce_add_sync(ALL, other);
    const unsigned offset = known + __reduce_add_sync(ALL, lane < warp ? other : 0);

    // store the results, coalesced
    const size_t left = words_here - size_t(k) * TILE;
    unsigned* const to = out + (first + k) * TILE;
    for (unsigned row = 0; row < ROWS; ++row) store(to, mine + row * ROW, left, offset + before[row], words[row]);
  }

  // the last block to end prepares the next launch
  if (threadIdx.x == 0 && atomicAdd(&state[ENDED], 1ULL) == gridDim.x - 1) {
    atomicExch(&state[ENDED], 0ULL);
    atomicExch(&state[LAUNCH], Word64(launch));
  }
#else
  __trap();  // compiled for a GPU without TMA: abort instead of writing nothing
#endif
}
