// SPDX-License-Identifier: MIT-0
//
// Exclusive prefix sum of n words, modulo 2^32, in one launch: each word is read once and written once. The blocks tell
// each other what they have summed up (Merrill and Garland's decoupled look-back).
//
//   lanes  A tile is scanned as in warp_scan.cuh. As soon as its sum is known, it is published: a word of the tile's
//          own in `state`. Meanwhile the first warp looks back: 32 tiles at once, it gathers the sums of those before
//          its own, up to the nearest that has published the sum of everything up to its end. Then this tile can do so,
//          too. Few warps with many loads each: a block waits once for a tile, and a lane has 64 words of it.
//   banks  One word a warp is stored and four neighbouring words are read: no conflict.
//
// Why it ends. A block only waits for tiles that were claimed earlier: tiles are numbered in the order in which
// blocks begin (the ticket), whatever order the hardware starts blocks in. CUDA does not promise that those earlier
// blocks make progress meanwhile. So a block polls MAX_POLLS times and then adds up the tile in question itself: the
// input is all it needs.
// Why it is right. A sum and what it means are one word of 64 bits, written and read by relaxed atomics of device
// scope: who sees one, sees the other, and needs no fence. All that may be published for a tile is true, whoever does
// it.
// Why an exchange publishes it. A store would be as right, but seems to wait its turn behind those of the results, and
// everybody waits for it. The exchange does not: on an H200 that is worth a fifth of the bandwidth.
// Why nothing has to be cleared. Each word of `state` holds the number of the launch that it belongs to, and counts in
// no other. The block that takes the last ticket counts the launches on; then all of this launch have theirs.
//
// Contract
//   launch  max(1, ceil(n / TILE)) blocks of exactly BLOCK threads, one-dimensional
//   in      n words, from a multiple of 16 bytes on; not read when n is 0
//   out     n words, from a multiple of 16 bytes on: out[i] = sum of in[0 .. i), modulo 2^32. No part of `in`, which
//           other blocks may have to read again
//   state   8 * (TICKETS + blocks) bytes, 8-byte aligned, zero before the first launch, and then left alone: for
//           launches one after the other, of any n that it is large enough for. To be zeroed again after a launch that
//           was aborted, and before launch 2^30, when the numbers begin anew (the upper half of the first word counts)
//   n       any, including 0; at most (2^31 - 1) * TILE, as a grid has no more blocks

namespace scan_look_back_detail {

constexpr unsigned BLOCK = 128;  // threads per block; a multiple of 32, and RESIDENT times as many on a multiprocessor
constexpr unsigned WARP = 32;    // lanes of a warp
constexpr unsigned WARPS = BLOCK / WARP;
constexpr unsigned ROWS = 16;                  // times four words of each lane
constexpr unsigned ROW = 4 * WARP;             // words of a warp in a row
constexpr unsigned TILE = WARPS * ROWS * ROW;  // words per block
constexpr unsigned ALL = 0xFFFFFFFF;           // lanes
constexpr unsigned TICKETS = 32;               // words of `state` that the counter has to itself
constexpr unsigned RESIDENT = 5;               // target occupancy: blocks per multiprocessor
constexpr unsigned MAX_POLLS = 1024;           // of a tile's word before its sum is computed here

// What a tile's word says, in its upper half, of the number in the lower: 4 * launch + one of these.
constexpr unsigned TILE_ALONE = 1;  // the tile's words
constexpr unsigned UP_TO_END = 2;   // all words up to the tile's end

static __device__ unsigned long long status(unsigned launch, unsigned what, unsigned sum) {
  return static_cast<unsigned long long>(launch << 2 | what) << 32 | sum;
}

// Both are relaxed atomics of device scope.
static __device__ void publish(unsigned long long* word, unsigned long long value) {
  atomicExch(word, value);
}

// Past the L1 cache. nvcc has a built-in for it since 12.8, __nv_atomic_load_n(); this is for older ones, too.
static __device__ unsigned long long published(unsigned long long* word) {
#if defined(__CUDACC__) && __CUDA_ARCH__ >= 700
  unsigned long long value;
  asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(value) : "l"(__cvta_generic_to_global(word)) : "memory");
  return value;
#else
  return atomicAdd(word, 0ULL);
#endif
}

// Words i to i + 3, as far as there are so many. Aligned to 16 bytes, they come at once.
static __device__ uint4 load(const unsigned* in, size_t i, size_t n) {
  if (i + 3 < n) return *reinterpret_cast<const uint4*>(in + i);
  uint4 words = make_uint4(0, 0, 0, 0);
  if (i < n) words.x = in[i];
  if (i + 1 < n) words.y = in[i + 1];
  if (i + 2 < n) words.z = in[i + 2];
  return words;
}

// Stores what stands before each of four words, given what stands before the first.
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

// The sum of all lanes' words, in each of them.
static __device__ unsigned warp_sum(unsigned word) {
#if __CUDA_ARCH__ >= 800
  return __reduce_add_sync(ALL, word);
#else
  for (unsigned bit = WARP / 2; bit > 0; bit /= 2) word += __shfl_xor_sync(ALL, word, bit);
  return word;
#endif
}

// The sum of a tile that is not the last, from the input. By a warp.
static __device__ unsigned sum_of_tile(const unsigned* in, unsigned tile) {
  const uint4* words = reinterpret_cast<const uint4*>(in + size_t(tile) * TILE) + threadIdx.x % WARP;
  unsigned sum = 0;
#pragma unroll 1  // seldom needed: registers matter more
  for (unsigned row = 0; row < WARPS * ROWS; ++row, words += WARP) sum += words->x + words->y + words->z + words->w;
  return warp_sum(sum);
}

// The sum of all tiles before one. By a warp: lane k looks at the k-th tile back.
static __device__ unsigned sum_before(const unsigned* in, unsigned long long* statuses, unsigned tile,
                                      unsigned launch) {
  const unsigned lane = threadIdx.x % WARP;
  unsigned sum = 0;
  for (unsigned back = 1 + lane;; back += WARP) {
    // Before the first tile stands nothing, and that is certain.
    unsigned long long* const word = &statuses[tile - (back <= tile ? back : 0)];
    unsigned long long seen = back <= tile ? published(word) : status(launch, UP_TO_END, 0);
    for (unsigned polls = 1;; ++polls) {
      const unsigned what = unsigned(seen >> 32) - (launch << 2);
      const unsigned final = __ballot_sync(ALL, what == UP_TO_END);
      const unsigned open = __ballot_sync(ALL, what != UP_TO_END && what != TILE_ALONE);
      const unsigned wanted = final != 0 ? final ^ (final - 1) : ALL;  // as far as the nearest that is final
      if ((open & wanted) == 0) {
        sum += warp_sum(wanted >> lane & 1 ? unsigned(seen) : 0);
        if (final != 0) return sum;
        break;
      }
      if (polls < MAX_POLLS) {
        if ((open & wanted) >> lane & 1) seen = published(word);
      } else {
        const unsigned helped = __ffs(int(open & wanted)) - 1;  // the lane whose tile is added up for it
        const unsigned distance = __shfl_sync(ALL, back, helped);
        const unsigned long long found = status(launch, TILE_ALONE, sum_of_tile(in, tile - distance));
        if (lane == helped) {
          // For those who come after. If the tile has published something meanwhile, that stays.
          atomicCAS(word, seen, found);
          seen = found;
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

  if (threadIdx.x == 0) {
    ticket = atomicAdd(state, 1ULL);
    // The last one: the next launch has the next number, and its tickets begin at 0.
    if (unsigned(ticket) == gridDim.x - 1) publish(state, ((ticket >> 32) + 1) << 32);
  }
  __syncthreads();
  const unsigned tile = unsigned(ticket), launch = unsigned(ticket >> 32);

  const size_t first = size_t(tile) * TILE + warp * (ROWS * ROW) + 4 * lane;
  uint4 words[ROWS];
#pragma unroll
  for (unsigned row = 0; row < ROWS; ++row) words[row] = load(in, first + row * ROW, n);
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
  if (threadIdx.x == 0) publish(&statuses[tile], status(launch, tile == 0 ? UP_TO_END : TILE_ALONE, total));

  // The scan of warp_scan.cuh, while the others may look at this tile's sum.
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

  if (warp == 0) {
    const unsigned sum = tile == 0 ? 0 : sum_before(in, statuses, tile, launch);
    if (lane == 0) {
      if (tile > 0) publish(&statuses[tile], status(launch, UP_TO_END, sum + total));
      tiles_before = sum;
    }
  }
  __syncthreads();
  const unsigned offset = tiles_before;
#pragma unroll
  for (unsigned row = 0; row < ROWS; ++row) store(out, first + row * ROW, n, offset + before[row], words[row]);
}
