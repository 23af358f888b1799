// SPDX-License-Identifier: MIT-0
//
// Warp-shuffle scan in registers: the exclusive prefix sum of each tile of 2048 words, modulo 2^32, and the tile's
// total. Each warp runs the steps of a Hillis-Steele scan (1986) by shuffles. Only the warps' totals go through shared
// memory.
//
// Changed against hillis_steele.cuh: the steps run in registers, and only the warps' totals go through shared memory;
// 16-byte loads.
//
//   lanes  Each lane loads four words by one 16-byte load and adds them up. The 32 lanes of a warp scan these sums in
//          five shuffle steps, as in hillis_steele.cuh, without a barrier or shared memory. A warp scans two such rows
//          of words; the second row continues from the sum of the first. Each warp itself adds up the totals of the
//          warps before it.
//   banks  Each warp stores one word and loads 8 consecutive words: no conflict. A tile takes one barrier and 16 passes
//          (NVIDIA: wavefronts), compared with hundreds of passes for the tree scans.
//
// Contract
//   launch  max(1, ceil(n / TILE)) blocks of exactly BLOCK threads, one-dimensional
//   in      n words, 16-byte aligned; not read when n is 0
//   out     n words, 16-byte aligned: out[i] = sum of in[first word of its tile .. i), modulo 2^32; may be the same
//           memory as `in`
//   totals  one word per block: the sum of its tile, zero if n is 0
//   n       any, including 0
// To scan an array of many tiles (scan-then-propagate): scan `totals` with the same kernel until one tile holds them
// all, then add each tile's offset to its words (add_offsets_wide).

namespace scan_warp_scan_detail {

constexpr unsigned BLOCK = 256;  // threads per block; a multiple of 32, at most 1024
constexpr unsigned WARP = 32;    // lanes of a warp
constexpr unsigned WARPS = BLOCK / WARP;
constexpr unsigned ROWS = 2;                   // 16-byte loads per lane
constexpr unsigned ROW = 4 * WARP;             // words per warp and row
constexpr unsigned TILE = WARPS * ROWS * ROW;  // words per block
constexpr unsigned ALL = 0xFFFFFFFF;           // mask of all lanes

// Loads words i to i + 3, zero past the end. One 16-byte load if all four exist; i is a multiple of 4.
static __device__ uint4 load(const unsigned* in, size_t i, size_t n) {
  if (i + 3 < n) return *reinterpret_cast<const uint4*>(in + i);
  uint4 words = make_uint4(0, 0, 0, 0);
  if (i < n) words.x = in[i];
  if (i + 1 < n) words.y = in[i + 1];
  if (i + 2 < n) words.z = in[i + 2];
  return words;
}

// Stores the exclusive prefix sums of four words, given `before`, the sum of all words before the first. __stwb is an
// ordinary store; nvcc 13.0 would split a plain one into words here.
static __device__ void store(unsigned* out, size_t i, size_t n, unsigned before, uint4 words) {
  const uint4 sums =
      make_uint4(before, before + words.x, before + words.x + words.y, before + words.x + words.y + words.z);
  if (i + 3 < n) {
    __stwb(reinterpret_cast<uint4*>(out + i), sums);
  } else {
    if (i < n) out[i] = sums.x;
    if (i + 1 < n) out[i + 1] = sums.y;
    if (i + 2 < n) out[i + 2] = sums.z;
  }
}

// The sum over the lanes of the warp, returned to every lane.
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

  // load the tile, coalesced, 16 bytes per lane
  uint4 words[ROWS];
  for (unsigned row = 0; row < ROWS; ++row) words[row] = load(in, first + row * ROW, n);
  unsigned before[ROWS] = {}, total = 0;  // prefix of each lane's four words; the tile's total

  // --- shared-memory section ---
  // scan the four-word sums of each row by shuffles
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

  // exchange the warps' totals and add up those of earlier warps
  if (lane == 0) warp_total[warp] = rows_before;
  __syncthreads();
  const unsigned other = lane < WARPS ? warp_total[lane] : 0;
  total = warp_sum(other);
  const unsigned warps_before = warp_sum(lane < warp ? other : 0);
  for (unsigned row = 0; row < ROWS; ++row) before[row] += warps_before;
  // --- end of section ---

  // store the results, coalesced, and the total
  for (unsigned row = 0; row < ROWS; ++row) store(out, first + row * ROW, n, before[row], words[row]);
  if (threadIdx.x == 0) totals[blockIdx.x] = total;
}
