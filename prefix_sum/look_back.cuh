// SPDX-License-Identifier: MIT-0
//
// Single-pass scan with decoupled look-back (Merrill & Garland 2016) and decoupled fallback (Smith, Levien & Owens
// 2025): the exclusive prefix sum of n words, modulo 2^32, in one launch. Each word is read once and written once.
//
// Changed against warp_scan.cuh: blocks publish their tiles' sums in global memory and add up those before them, so one
// launch suffices.
//
//   lanes  Each block scans a tile as in warp_scan.cuh. As soon as it knows the tile's sum (the aggregate), it
//          publishes it in the tile's word of `state`. Then its first warp looks back, 32 tiles per step. It adds up
//          the aggregates of the preceding tiles, back to the nearest tile that has published its inclusive prefix: the
//          sum of all words up to that tile's end. Then the block publishes its own inclusive prefix. Each lane holds
//          64 words of the tile in registers, so few warps have many loads in flight, and 8192 words take only one
//          look-back.
//   banks  Each warp stores one word and loads four consecutive words: no conflict.
//
// Forward progress. An atomic ticket numbers the tiles in the order in which blocks start, so a block only waits for
// tiles that were claimed earlier. CUDA does not guarantee that the blocks of those tiles make progress meanwhile. A
// block therefore polls a tile MAX_POLLS times at most. Then it computes the tile's sum itself from the input: the
// decoupled fallback.
// Memory ordering. A status and its sum share one 64-bit word, which is written and read by relaxed atomics of device
// scope. A reader gets both or neither, so no fence is needed. Any value that may be published for a tile is correct,
// regardless of which block publishes it.
// Publishing by atomicExch. A plain store is also correct, but on an H200 the exchange raises the bandwidth by about a
// fifth. We think that a store queues after the output stores of the multiprocessor, and all later tiles wait for it.
// No memset before a launch. Each word of `state` holds the number of the launch that wrote it, and other launches
// ignore it. The block that takes the last ticket increments the launch number; all blocks of this launch have their
// tickets by then.
//
// Contract
//   launch  max(1, ceil(n / TILE)) blocks of exactly BLOCK threads, one-dimensional
//   in      n words, 16-byte aligned; not read when n is 0
//   out     n words, 16-byte aligned: out[i] = sum of in[0 .. i), modulo 2^32. Must not overlap `in`, which other
//           blocks may have to read again
//   state   8 * (TICKETS + blocks) bytes, 8-byte aligned. Zero it before the first launch and leave it unchanged
//           between launches. It then serves any n that it is large enough for, in launches that run one after another.
//           Zero it again after an aborted launch, and before launch 2^30, when the launch numbers wrap around (they
//           are in the upper half of the first word)
//   n       any, including 0; at most (2^31 - 1) * TILE, because a grid has at most 2^31 - 1 blocks

namespace scan_look_back_detail {

constexpr unsigned BLOCK = 128;  // threads per block; a multiple of 32
constexpr unsigned WARP = 32;    // lanes of a warp
constexpr unsigned WARPS = BLOCK / WARP;
constexpr unsigned ROWS = 16;                  // 16-byte loads per lane
constexpr unsigned ROW = 4 * WARP;             // words per warp and row
constexpr unsigned TILE = WARPS * ROWS * ROW;  // words per block
constexpr unsigned ALL = 0xFFFFFFFF;           // mask of all lanes
constexpr unsigned TICKETS = 32;               // words of `state` reserved for the ticket counter
constexpr unsigned RESIDENT = 5;               // target occupancy: resident blocks per multiprocessor
constexpr unsigned MAX_POLLS = 1024;           // polls of a tile's word before this block computes its sum

// A tile's word holds a sum in its lower half, and 4 * launch + one of these in its upper half.
constexpr unsigned TILE_ALONE = 1;  // the sum is that of the tile: its aggregate
constexpr unsigned UP_TO_END = 2;   // the sum is that of all words up to the tile's end: its inclusive prefix

static __device__ unsigned long long status(unsigned launch, unsigned what, unsigned sum) {
  return static_cast<unsigned long long>(launch << 2 | what) << 32 | sum;
}

// publish() and published() are relaxed atomics of device scope.
static __device__ void publish(unsigned long long* word, unsigned long long value) { atomicExch(word, value); }

// Bypasses the L1 cache. nvcc 12.8 added the built-in __nv_atomic_load_n() for this; inline PTX also suits older ones.
static __device__ unsigned long long published(unsigned long long* word) {
#if defined(__CUDACC__) && __CUDA_ARCH__ >= 700
  unsigned long long value;
  asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(value) : "l"(__cvta_generic_to_global(word)) : "memory");
  return value;
#else
  return atomicAdd(word, 0ULL);
#endif
}

// Loads words i to i + 3, zero past the end. One 16-byte load if all four exist; i is a multiple of 4.
static __device__ uint4 load(const unsigned* in, size_t i, size_t n) {
  if (i + 3 < n) return *reinterpret_cast<const uint4*>(in + i);
  uint4 words = make_uint4(0, 0, 0, 0);
  if (i < n) words.x = in[i];
  if (i + 1 < n) words.y = in[i + 1];
  if (i + 2 < n) words.z = in[i + 2];
  return words;
}

// Stores the exclusive prefix sums of four words, given `before`, the sum of all words before the first.
static __device__ void store(unsigned* out, size_t i, size_t n, unsigned before, uint4 words) {
  const uint4 sums =
      make_uint4(before, before + words.x, before + words.x + words.y, before + words.x + words.y + words.z);
  if (i + 3 < n) {
    *reinterpret_cast<uint4*>(out + i) = sums;
  } else {
    if (i < n) out[i] = sums.x;
    if (i + 1 < n) out[i + 1] = sums.y;
    if (i + 2 < n) out[i + 2] = sums.z;
  }
}

// The sum over the lanes of the warp, returned to every lane.
static __device__ unsigned warp_sum(unsigned word) {
#if __CUDA_ARCH__ >= 800
  return __reduce_add_sync(ALL, word);
#else
  for (unsigned bit = WARP / 2; bit > 0; bit /= 2) word += __shfl_xor_sync(ALL, word, bit);
  return word;
#endif
}

// The sum of a tile other than the last, computed from the input. All lanes of the warp must call.
static __device__ unsigned sum_of_tile(const unsigned* in, unsigned tile) {
  const uint4* words = reinterpret_cast<const uint4*>(in + size_t(tile) * TILE) + threadIdx.x % WARP;
  unsigned sum = 0;
#pragma unroll 1  // rarely executed: save registers
  for (unsigned row = 0; row < WARPS * ROWS; ++row, words += WARP) sum += words->x + words->y + words->z + words->w;
  return warp_sum(sum);
}

// Decoupled look-back: the sum of all tiles before `tile`. All lanes of the warp must call. Lane k first polls tile
// number `tile` - k - 1, then every 32nd tile before that one.
static __device__ unsigned sum_before(const unsigned* in, unsigned long long* statuses, unsigned tile,
                                      unsigned launch) {
  const unsigned lane = threadIdx.x % WARP;
  unsigned sum = 0;
  for (unsigned back = 1 + lane;; back += WARP) {
    // poll one tile per lane; the prefix before tile 0 is zero and final
    unsigned long long* const word = &statuses[tile - (back <= tile ? back : 0)];
    unsigned long long seen = back <= tile ? published(word) : status(launch, UP_TO_END, 0);
    for (unsigned polls = 1;; ++polls) {
      const unsigned what = unsigned(seen >> 32) - (launch << 2);
      const unsigned final = __ballot_sync(ALL, what == UP_TO_END);
      const unsigned open = __ballot_sync(ALL, what != UP_TO_END && what != TILE_ALONE);
      const unsigned wanted = final != 0 ? final ^ (final - 1) : ALL;  // lanes up to the nearest inclusive prefix
      // all of these have published: add them up
      if ((open & wanted) == 0) {
        sum += warp_sum(wanted >> lane & 1 ? unsigned(seen) : 0);
        if (final != 0) return sum;
        break;
      }
      // otherwise poll again, or fall back
      if (polls < MAX_POLLS) {
        if ((open & wanted) >> lane & 1) seen = published(word);
      } else {
        const unsigned helped = __ffs(int(open & wanted)) - 1;  // lane of the nearest tile without a sum
        const unsigned distance = __shfl_sync(ALL, back, helped);
        const unsigned long long aggregate = status(launch, TILE_ALONE, sum_of_tile(in, tile - distance));
        if (lane == helped) {
          // publish the sum for later tiles, unless the tile itself has published meanwhile
          atomicCAS(word, seen, aggregate);
          seen = aggregate;
        }
      }
    }
  }
}

}  // namespace scan_look_back_detail

__global__ void __launch_bounds__(scan_look_back_detail::BLOCK, scan_look_back_detail::RESIDENT)
    scan_look_back(const unsigned* __restrict__ in, unsigned* __restrict__ out, unsigned long long* state, size_t n) {
  using namespace scan_look_back_detail;
  __shared__ unsigned long long ticket;
  __shared__ unsigned warp_total[WARPS];
  __shared__ unsigned tiles_before;

  const unsigned lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
  unsigned long long* const statuses = state + TICKETS;

  // claim a tile
  if (threadIdx.x == 0) {
    ticket = atomicAdd(state, 1ULL);
    // the last ticket: increment the launch number and reset the tickets to 0
    if (unsigned(ticket) == gridDim.x - 1) publish(state, ((ticket >> 32) + 1) << 32);
  }
  __syncthreads();
  const unsigned tile = unsigned(ticket), launch = unsigned(ticket >> 32);

  // load the tile, coalesced, with all loads in flight
  const size_t first = size_t(tile) * TILE + warp * (ROWS * ROW) + 4 * lane;
  uint4 words[ROWS];
#pragma unroll
  for (unsigned row = 0; row < ROWS; ++row) words[row] = load(in, first + row * ROW, n);

  // add up each lane's words, then the warp's, then the tile's
  unsigned before[ROWS], sum_of_lane = 0;
#pragma unroll
  for (unsigned row = 0; row < ROWS; ++row) {
    before[row] = words[row].x + words[row].y + words[row].z + words[row].w;
    sum_of_lane += before[row];
  }
  const unsigned sum_of_warp = warp_sum(sum_of_lane);
  if (lane == 0) warp_total[warp] = sum_of_warp;
  __syncthreads();
  const unsigned other = lane < WARPS ? warp_total[lane] : 0;
  const unsigned total = warp_sum(other);

  // publish the aggregate
  if (threadIdx.x == 0) publish(&statuses[tile], status(launch, tile == 0 ? UP_TO_END : TILE_ALONE, total));

  // scan the rows by shuffles, as in warp_scan.cuh; other blocks can already read the aggregate
  unsigned rows_before = warp_sum(lane < warp ? other : 0);
#pragma unroll
  for (unsigned row = 0; row < ROWS; ++row) {
    const unsigned mine = before[row];
    unsigned sum = mine;
    for (unsigned step = 1; step < WARP; step *= 2) {
      const unsigned theirs = __shfl_up_sync(ALL, sum, step);
      if (lane >= step) sum += theirs;
    }
    before[row] = rows_before + sum - mine;
    rows_before += __shfl_sync(ALL, sum, WARP - 1);
  }

  // look back, then publish the inclusive prefix
  if (warp == 0) {
    const unsigned sum = tile == 0 ? 0 : sum_before(in, statuses, tile, launch);
    if (lane == 0) {
      if (tile > 0) publish(&statuses[tile], status(launch, UP_TO_END, sum + total));
      tiles_before = sum;
    }
  }
  __syncthreads();

  // store the results, coalesced
  const unsigned offset = tiles_before;
#pragma unroll
  for (unsigned row = 0; row < ROWS; ++row) store(out, first + row * ROW, n, offset + before[row], words[row]);
}
