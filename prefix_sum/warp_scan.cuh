// SPDX-License-Identifier: MIT-0
//
// Exclusive prefix sum of each tile of 2048 words, modulo 2^32, and the total of the tile: the warps scan in registers.
//
//   lanes  A lane loads four words at once and adds them up; the lanes of a warp then scan these sums as in
//          hillis_steele.cuh, in five steps, by shuffles: no barrier, no shared memory. A second row of the warp's
//          words follows, and goes on where the first ended. What the warps have summed up, each warp adds up for
//          itself.
//   banks  One word a warp is stored and 8 neighbouring words are read: no conflict, and 16 passes for a tile where the
//          trees take hundreds. One barrier is left of them.
//
// Contract
//   launch  max(1, ceil(n / TILE)) blocks of exactly BLOCK threads, one-dimensional
//   in      n words, from a multiple of 16 bytes on; not read when n is 0
//   out     n words, from a multiple of 16 bytes on: out[i] = sum of in[first of its tile .. i), modulo 2^32; may be
//           the same memory as `in`
//   totals  one word per block: the sum of its tile, zero if n is 0
//   n       any, including 0
// For a whole scan: scan `totals` the same way until one tile holds them all, then add each tile's offset
// (add_offsets_wide.cuh).

namespace scan_warp_scan_detail {

constexpr unsigned BLOCK = 256;  // threads per block; a multiple of 32, at most 1024
constexpr unsigned WARP = 32;    // lanes of a warp
constexpr unsigned WARPS = BLOCK / WARP;
constexpr unsigned ROWS = 2;                   // times four words of each lane
constexpr unsigned ROW = 4 * WARP;             // words of a warp in a row
constexpr unsigned TILE = WARPS * ROWS * ROW;  // words per block
constexpr unsigned ALL = 0xFFFFFFFF;           // lanes

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
  for (unsigned bit = WARP / 2; bit > 0; bit /= 2) word += __shfl_xor_sync(ALL, word, bit);
  return word;
}

}  // namespace scan_warp_scan_detail

__global__ void __launch_bounds__(scan_warp_scan_detail::BLOCK)
    scan_warp_scan(const unsigned* in, unsigned* out, unsigned* totals, size_t n) {
  using namespace scan_warp_scan_detail;
  __shared__ unsigned warp_total[WARPS];

  const unsigned lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
  const size_t first = size_t(blockIdx.x) * TILE + warp * (ROWS * ROW) + 4 * lane;
  uint4 words[ROWS];
  for (unsigned row = 0; row < ROWS; ++row) words[row] = load(in, first + row * ROW, n);
  unsigned before[ROWS] = {}, total = 0;  // what stands before each four words

  // --- shared-memory section ---
  unsigned rows_before = 0;
  for (unsigned row = 0; row < ROWS; ++row) {
    const unsigned mine = words[row].x + words[row].y + words[row].z + words[row].w;
    unsigned sum = mine;
    for (unsigned step = 1; step < WARP; step *= 2) {
      const unsigned theirs = __shfl_up_sync(ALL, sum, step);
      if (lane >= step) sum += theirs;
    }
    before[row] = rows_before + sum - mine;
    rows_before += __shfl_sync(ALL, sum, WARP - 1);
  }
  if (lane == 0) warp_total[warp] = rows_before;
  __syncthreads();
  const unsigned other = lane < WARPS ? warp_total[lane] : 0;
  total = warp_sum(other);
  const unsigned warps_before = warp_sum(lane < warp ? other : 0);
  for (unsigned row = 0; row < ROWS; ++row) before[row] += warps_before;
  // --- end of section ---

  for (unsigned row = 0; row < ROWS; ++row) store(out, first + row * ROW, n, before[row], words[row]);
  if (threadIdx.x == 0) totals[blockIdx.x] = total;
}
