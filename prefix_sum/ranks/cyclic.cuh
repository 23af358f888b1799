// SPDX-License-Identifier: MIT-0
//
// Prefix sum on several GPUs in one launch, each word read once: the ranks hold blocks of words in turn (block-cyclic),
// and work on neighbouring blocks at the same time. Each rank sends the sum of each of its blocks to all others through
// peer memory, as soon as it knows that sum. A rank therefore knows the sum of all words before its next block long
// before it has read all its words. Where the ranks hold consecutive shares, every word must be read twice.
//
//   tiles  As in ring.cuh: each block of threads takes tickets in ascending order, and a single-pass scan with
//          look-back finds the sum of this rank's words before a tile. The sum of the other ranks' words before the
//          tile is added to it. Both depend on earlier words of the whole problem only, and running blocks have taken
//          their tiles, or will. So the launch ends if all ranks launch and all running blocks make progress.
//   link   Messages as in parts.hpp. A rank sends a message only after the receiver has begun the same launch, so the
//          receiver has read the messages of the launch before.
//   lanes, banks  As in on_chip.cuh: no conflict.
//
// Needs: compute capability 9.0
// No OpenCL port: OpenCL has no TMA, and its devices cannot access each other's memory
// Not emulated: it waits for other GPUs, and TMA and mbarrier instructions are inline PTX
//
// Contract
//   launch  on every rank, as often as on the others: from 1 to max(1, ceil(n / TILE)) blocks of exactly BLOCK threads,
//           one-dimensional; ideally as many as are resident: two per multiprocessor. 4 * STAGES * TILE bytes of
//           dynamic shared memory, which must be allowed first: cudaFuncAttributeMaxDynamicSharedMemorySize
//   in      n words, 16-byte aligned (otherwise the bulk copy faults): this rank's blocks, one after another. Rank r
//           holds the blocks r, r + ranks, r + 2 * ranks, ... of the whole input; only the very last one may have fewer
//           words. Not read when n is 0
//   out     n words, 16-byte aligned: out[i] = the sum of all words of the whole input before in[i], modulo 2^32. Must
//           not overlap `in`
//   state   BEGUN + ranks + rounds * (ranks + 1) + ceil(n / TILE) words of 8 bytes, 8-byte aligned, zero before the
//           first launch, in memory that the other ranks can write. For one value of `rounds`; to be zeroed again on
//           all ranks for another, after a launch that did not end, and after 2^30 launches
//   states  the addresses of all ranks' `state`, by rank
//   n       any, including 0; at most (2^31 - 1) * TILE
//   tiles_per_block  tiles of TILE words in a block of words, from 1 to 4095
//   rounds  blocks of rank 0, the most of any rank

#include "parts.hpp"

namespace scan_ranks_cyclic_detail {

using namespace scan_ranks_detail;

constexpr unsigned BLOCK = 512;                // threads per block; a multiple of 32
constexpr unsigned WARPS = BLOCK / WARP;       // at most 32, because one warp adds up their sums
constexpr unsigned ROWS = 4;                   // 16-byte loads per lane
constexpr unsigned ROW = 4 * WARP;             // words per warp and row
constexpr unsigned TILE = WARPS * ROWS * ROW;  // words per tile
constexpr unsigned STAGES = 3;  // tiles in shared memory: one being scanned, one summed up, one in flight
static_assert(2 * (STAGES * TILE * 4 + 2048) <= 228 * 1024, "the tiles of two blocks and a little more fit");

#if __CUDA_ARCH__ >= 900
// Indices in `state`: the launch number (above bit 32) and the next ticket; the number of blocks of threads that have
// ended; from each rank, that it has begun. The rest is described below.
constexpr unsigned TICKET = 0, ENDED = 1, BEGUN = 32;
constexpr unsigned COUNT_SHIFT = 52;  // a block's word: the sum of its tiles so far below this bit, their number above

// A tile's word holds a sum in its lower half, and 4 * launch + one of these in its upper half.
constexpr unsigned TILE_ALONE = 1;  // the sum is that of the tile
constexpr unsigned UP_TO_END = 2;   // the sum is that of all words of this rank up to the tile's end

static __device__ Word64 status(unsigned launch, unsigned what, unsigned sum) {
  return static_cast<Word64>(launch << 2 | what) << 32 | sum;
}

// publish() and published() are relaxed atomics of device scope, for the words that only this rank uses. The load
// bypasses the L1 cache; nvcc 12.8 added the built-in __nv_atomic_load_n() for it, inline PTX also suits older ones.
static __device__ void publish(Word64* word, Word64 value) { atomicExch(word, value); }
static __device__ Word64 published(const Word64* word) {
  Word64 value;
  asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(value) : "l"(__cvta_generic_to_global(word)) : "memory");
  return value;
}

// Look-back: the sum of this rank's tiles before `tile`, given `before_known`, the sum of those before `known`. All
// lanes of the warp must call. Lane k first polls tile number `tile` - k - 1, then every 32nd tile before that one.
static __device__ unsigned sum_before(const Word64* statuses, unsigned tile, unsigned launch, unsigned known,
                                      unsigned before_known) {
  const unsigned lane = threadIdx.x % WARP;
  const unsigned far = tile - known;  // tiles to add up, unless the sum up to the end of one of them is known
  unsigned sum = 0;
  for (unsigned back = 1 + lane;; back += WARP) {
    // poll one tile per lane, until all up to the nearest one with a sum up to its end have published
    const Word64* const word = &statuses[tile - (back <= far ? back : 0)];
    Word64 seen = back <= far ? published(word) : status(launch, UP_TO_END, before_known);
    for (;;) {
      const unsigned what = unsigned(seen >> 32) - (launch << 2);
      const unsigned final = __ballot_sync(ALL, what == UP_TO_END);
      const unsigned open = __ballot_sync(ALL, what != UP_TO_END && what != TILE_ALONE);
      const unsigned wanted = final != 0 ? final ^ (final - 1) : ALL;  // lanes up to the nearest final sum
      if ((open & wanted) == 0) {
        sum += __reduce_add_sync(ALL, wanted >> lane & 1 ? unsigned(seen) : 0);
        if (final != 0) return sum;
        break;
      }
      if ((open & wanted) >> lane & 1) seen = published(word);
    }
  }
}
#endif

}  // namespace scan_ranks_cyclic_detail

__global__ void __launch_bounds__(scan_ranks_cyclic_detail::BLOCK, 2)
    scan_ranks_cyclic(const unsigned* __restrict__ in, unsigned* __restrict__ out, unsigned long long* state,
                      unsigned long long* const* states, size_t n, size_t rank, size_t ranks, size_t tiles_per_block,
                      size_t rounds) {
#if __CUDA_ARCH__ >= 900
  using namespace scan_ranks_cyclic_detail;
  extern __shared__ __align__(128) unsigned ring[];
  __shared__ Word64 full[STAGES];  // mbarriers: the stage's tile has arrived
  __shared__ unsigned tile_in[STAGES], launch_number;
  __shared__ unsigned warp_total[2][WARPS];  // of two tiles, alternating
  __shared__ unsigned before_tile[2], before_block[2];

  const unsigned lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
  const unsigned mine = warp * (ROWS * ROW) + 4 * lane;  // the lane's first word in a tile
  const unsigned tiles = unsigned((n + TILE - 1) / TILE);
  // in `state`: the sums of all ranks' blocks, round by round; and of this rank: the unfinished sum of each block, the
  // word of each tile
  const size_t totals = BEGUN + ranks;
  Word64* const unfinished = state + totals + rounds * ranks;
  Word64* const statuses = unfinished + rounds;

  // Takes a ticket for a stage and starts the copy of its tile. A last tile that is not full is read directly, without
  // the ring. Thread 0 calls it.
  const auto refill = [&](unsigned stage) {
    const Word64 ticket = atomicAdd(&state[TICKET], 1ULL);
    const unsigned tile = unsigned(ticket);
    tile_in[stage] = tile;
    launch_number = unsigned(ticket >> 32) + 1;
    if (n / TILE > tile) begin_copy(ring + stage * TILE, in + size_t(tile) * TILE, TILE, &full[stage]);
  };
  // Loads four words of this lane, of the k-th tile of this block of threads; zero past the end.
  const auto words_of = [&](unsigned k, unsigned tile, unsigned row) {
    const unsigned i = mine + row * ROW;
    if (n / TILE > tile) return *reinterpret_cast<const uint4*>(ring + k % STAGES * TILE + i);
    const size_t first = size_t(tile) * TILE + i;
    return make_uint4(first < n ? in[first] : 0, first + 1 < n ? in[first + 1] : 0, first + 2 < n ? in[first + 2] : 0,
                      first + 3 < n ? in[first + 3] : 0);
  };

  // claim tiles and start their copies
  if (threadIdx.x == 0) {
    for (unsigned stage = 0; stage < STAGES; ++stage) prepare_phases(&full[stage]);
    then_the_copy_engine();
    for (unsigned stage = 0; stage < STAGES; ++stage) refill(stage);
  }
  __syncthreads();
  const unsigned launch = launch_number;
  const Word64 tag = Word64(launch) << 32;

  // tell all ranks that this one has begun
  if (blockIdx.x == 0) {
    for (size_t r = threadIdx.x; r < ranks; r += BLOCK) send(states[r] + BEGUN + rank, tag);
  }

  // Waits for the k-th tile of this block of threads, if there is one, adds up its words, and publishes the sum. Lane 0
  // of warp 0 returns the sum of its block of words so far. The result of that atomic is used later, so its latency is
  // hidden.
  const auto sum_up = [&](unsigned k) {
    Word64 so_far = 0;
    const unsigned tile = tile_in[k % STAGES];
    if (tile >= tiles) return so_far;  // the same for all threads
    if (n / TILE > tile) wait_for_copy(&full[k % STAGES], k / STAGES % 2);
    unsigned sum = 0;
    for (unsigned row = 0; row < ROWS; ++row) {
      const uint4 words = words_of(k, tile, row);
      sum += words.x + words.y + words.z + words.w;
    }
    sum = __reduce_add_sync(ALL, sum);
    if (lane == 0) warp_total[k % 2][warp] = sum;
    __syncthreads();
    if (warp > 0) return so_far;
    const unsigned total = __reduce_add_sync(ALL, lane < WARPS ? warp_total[k % 2][lane] : 0);
    if (lane == 0) {
      publish(&statuses[tile], status(launch, tile == 0 ? UP_TO_END : TILE_ALONE, total));
      const Word64 added = (Word64(1) << COUNT_SHIFT) + total;
      so_far = atomicAdd(&unfinished[tile / tiles_per_block], added) + added;
    }
    return so_far;
  };

  // If this was the last sum of a block of words that was missing, sends the block's sum to the other ranks. Warp 0
  // calls it after sum_up().
  const auto send_total = [&](unsigned k, Word64 so_far) {
    const unsigned tile = tile_in[k % STAGES];
    if (tile >= tiles) return;
    const unsigned round = unsigned(tile / tiles_per_block);
    so_far = __shfl_sync(ALL, so_far, 0);
    if (so_far >> COUNT_SHIFT != min(tiles_per_block, tiles - round * tiles_per_block)) return;
    if (lane == 0) atomicExch(&unfinished[round], 0ULL);  // ready for the next launch
    for (size_t r = lane; r < ranks; r += WARP) {
      if (r == rank) continue;
      // a rank may be ahead, if it needs nothing from this one
      while (int(unsigned(received(&state[BEGUN + r]) >> 32) - launch) < 0) continue;
      send(states[r] + totals + round * ranks + rank, tag | unsigned(so_far));
    }
  };

  // The sum of all other ranks' blocks before block `round` of this rank, given that before block `known` - 1; zero
  // for `known` = 0. All lanes of a warp call it.
  const auto sum_of_others = [&](unsigned round, unsigned known, unsigned before_known) {
    unsigned sum = lane == 0 ? before_known : 0;
    for (size_t i = lane; i < (round + 1 - known) * ranks; i += WARP) {
      const size_t r = i % ranks, later = known + i / ranks;
      if (r < rank) sum += wait_for(&state[totals + later * ranks + r], launch);
      if (r > rank && later > 0) sum += wait_for(&state[totals + (later - 1) * ranks + r], launch);
    }
    return __reduce_add_sync(ALL, sum);
  };

  unsigned known = 0, before_known = 0;   // of warp 0: for sum_before()
  unsigned known_blocks = 0, others = 0;  // of the last warp: for sum_of_others()
  Word64 so_far = sum_up(0);
  if (warp == 0) send_total(0, so_far);
  for (unsigned k = 0;; ++k) {
    const unsigned tile = tile_in[k % STAGES];
    if (tile >= tiles) break;  // the same for all threads
    so_far = sum_up(k + 1);

    // look back, then publish the sum up to the tile's end
    const unsigned other = lane < WARPS ? warp_total[k % 2][lane] : 0;
    if (warp == 0) {
      const unsigned before = sum_before(statuses, tile, launch, known, before_known);
      known = tile + 1;
      before_known = before + __reduce_add_sync(ALL, other);
      if (lane == 0) {
        if (tile > 0) publish(&statuses[tile], status(launch, UP_TO_END, before_known));
        before_tile[k % 2] = before;
      }
      send_total(k + 1, so_far);
    }
    if (warp == WARPS - 1) {
      const unsigned round = unsigned(tile / tiles_per_block);
      others = sum_of_others(round, known_blocks, others);
      known_blocks = round + 1;
      if (lane == 0) before_block[k % 2] = others;
    }

    // scan the rows by shuffles, as in ../warp_scan.cuh
    uint4 words[ROWS];
    unsigned before[ROWS];
    for (unsigned row = 0; row < ROWS; ++row) words[row] = words_of(k, tile, row);
    unsigned rows_before = __reduce_add_sync(ALL, lane < warp ? other : 0);
    for (unsigned row = 0; row < ROWS; ++row) {
      const unsigned four = words[row].x + words[row].y + words[row].z + words[row].w;
      unsigned sum = four;
      for (unsigned step = 1; step < WARP; step *= 2) {
        const unsigned theirs = __shfl_up_sync(ALL, sum, step);
        if (lane >= step) sum += theirs;
      }
      before[row] = rows_before + sum - four;
      rows_before += __shfl_sync(ALL, sum, WARP - 1);
    }

    // reuse the stage: claim the next tile and start its copy
    __syncthreads();  // the stage has been read, and the sums are known
    if (threadIdx.x == 0) {
      then_the_copy_engine();
      refill(k % STAGES);
    }
    const unsigned offset = before_tile[k % 2] + before_block[k % 2];

    // store the results, coalesced
    for (unsigned row = 0; row < ROWS; ++row) {
      store(out, size_t(tile) * TILE + mine + row * ROW, n, offset + before[row], words[row]);
    }
  }

  // the last block of threads to end prepares the next launch
  if (threadIdx.x == 0) {
    __threadfence();  // after its tickets
    if (atomicAdd(&state[ENDED], 1ULL) == gridDim.x - 1) {
      atomicExch(&state[ENDED], 0ULL);
      atomicExch(&state[TICKET], tag);
    }
  }
#else
  __trap();  // compiled for a GPU without TMA: abort instead of writing nothing
#endif
}
