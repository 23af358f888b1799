// SPDX-License-Identifier: MIT-0
//
// Warp-shuffle scan in registers: the exclusive prefix sum of each tile of 2048 words, modulo 2^32, and the tile's
// total. Each warp runs the steps of a Hillis-Steele scan (1986) by shuffles. Only the warps' totals go through local
// memory.
//
// warp_scan.cuh explains what it changes, its lanes and its banks. OpenCL 1.2 has no shuffles between work-items, and
// NVIDIA's OpenCL has no sub-groups, but it accepts inline PTX. On other devices the lanes exchange words through local
// memory, with barriers: correct on every device, but without the speedup.
//
// Contract
//   launch  max(1, ceil(n / TILE)) groups of exactly BLOCK work-items, one-dimensional
//   in      n words, 16-byte aligned; not read when n is 0
//   out     n words, 16-byte aligned: out[i] = sum of in[first word of its tile .. i), modulo 2^32; may be the same
//           memory as `in`
//   totals  one word per group: the sum of its tile, zero if n is 0
//   n       any, including 0
// To scan an array of many tiles (scan-then-propagate): scan `totals` with the same kernel until one tile holds them
// all, then add each tile's offset to its words (add_offsets_wide).

#define BLOCK 256u  // work-items per group; a multiple of 32, at most 1024
#define WARP 32u  // lanes of a warp
#define WARPS (BLOCK / WARP)
#define ROWS 2u                     // 16-byte loads per lane
#define ROW (4 * WARP)              // words per warp and row
#define TILE (WARPS * ROWS * ROW)   // words per group

// Shuffle: returns the word of another lane of the warp. All lanes of the group must call.
#ifdef __NV_CL_C_VERSION
#define EXCHANGE_SLOTS 1
uint shuffle_idx(uint lane, uint word, __local uint* exchange) {
  uint theirs;
  __asm__ volatile("shfl.sync.idx.b32 %0, %1, %2, 0x1f, 0xffffffff;" : "=r"(theirs) : "r"(word), "r"(lane));
  return theirs;
}
#else
#define EXCHANGE_SLOTS BLOCK  // one per lane
uint shuffle_idx(uint lane, uint word, __local uint* exchange) {
  exchange[get_local_id(0)] = word;
  barrier(CLK_LOCAL_MEM_FENCE);
  const uint theirs = exchange[get_local_id(0) / WARP * WARP + lane % WARP];
  barrier(CLK_LOCAL_MEM_FENCE);  // the slots are free again
  return theirs;
}
#endif

// Loads words i to i + 3, zero past the end. One 16-byte load if all four exist; i is a multiple of 4.
uint4 load(__global const uint* in, ulong i, ulong n) {
  if (i + 3 < n) return *(__global const uint4*)(in + i);
  uint4 words = (uint4)(0);
  if (i < n) words.x = in[i];
  if (i + 1 < n) words.y = in[i + 1];
  if (i + 2 < n) words.z = in[i + 2];
  return words;
}

// Stores the exclusive prefix sums of four words, given `before`, the sum of all words before the first.
void store(__global uint* out, ulong i, ulong n, uint before, uint4 words) {
  const uint4 sums = (uint4)(before, before + words.x, before + words.x + words.y, before + words.x + words.y + words.z);
  if (i + 3 < n) {
    *(__global uint4*)(out + i) = sums;
  } else {
    if (i < n) out[i] = sums.x;
    if (i + 1 < n) out[i + 1] = sums.y;
    if (i + 2 < n) out[i + 2] = sums.z;
  }
}

// The sum over the lanes of the warp, returned to every lane. All lanes of the group must call.
uint warp_sum(uint word, __local uint* exchange) {
  const uint lane = get_local_id(0) % WARP;
  for (uint bit = WARP / 2; bit > 0; bit /= 2) word += shuffle_idx(lane ^ bit, word, exchange);
  return word;
}

__kernel __attribute__((reqd_work_group_size(BLOCK, 1, 1)))
void scan_warp_scan(__global const uint* in, __global uint* out, __global uint* totals, ulong n) {
  __local uint warp_total[WARPS];
  __local uint exchange[EXCHANGE_SLOTS];

  const uint lane = get_local_id(0) % WARP, warp = get_local_id(0) / WARP;
  const size_t first = (size_t)get_group_id(0) * TILE + warp * (ROWS * ROW) + 4 * lane;

  // load the tile, coalesced, 16 bytes per lane
  uint4 words[ROWS];
  for (uint row = 0; row < ROWS; ++row) words[row] = load(in, first + row * ROW, n);
  uint before[ROWS] = {0}, total = 0;  // prefix of each lane's four words; the tile's total

  // --- shared-memory section ---
  // scan the four-word sums of each row by shuffles
  uint rows_before = 0;
  for (uint row = 0; row < ROWS; ++row) {
    const uint mine = words[row].x + words[row].y + words[row].z + words[row].w;
    uint sum = mine;
    for (uint step = 1; step < WARP; step *= 2) {
      const uint theirs = shuffle_idx(lane - step, sum, exchange);
      if (lane >= step) sum += theirs;
    }
    before[row] = rows_before + sum - mine;
    rows_before += shuffle_idx(WARP - 1, sum, exchange);
  }

  // exchange the warps' totals and add up those of earlier warps
  if (lane == 0) warp_total[warp] = rows_before;
  barrier(CLK_LOCAL_MEM_FENCE);
  const uint other = lane < WARPS ? warp_total[lane] : 0;
  total = warp_sum(other, exchange);
  const uint warps_before = warp_sum(lane < warp ? other : 0, exchange);
  for (uint row = 0; row < ROWS; ++row) before[row] += warps_before;
  // --- end of section ---

  // store the results, coalesced, and the total
  for (uint row = 0; row < ROWS; ++row) store(out, first + row * ROW, n, before[row], words[row]);
  if (get_local_id(0) == 0) totals[get_group_id(0)] = total;
}
