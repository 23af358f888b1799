// SPDX-License-Identifier: MIT-0
//
// Exclusive prefix sum of each tile of 2048 words, modulo 2^32, and the total of the tile: the warps scan in registers.
//
//   lanes  A lane loads four words at once and adds them up; the lanes of a warp then scan these sums as in
//          hillis_steele.cl, in five steps, by shuffles: no barrier, no local memory. A second row of the warp's words
//          follows, and goes on where the first ended. What the warps have summed up, each warp adds up for itself.
//          OpenCL 1.2 has no shuffles, and NVIDIA's no sub-groups; but it takes PTX. Elsewhere words go from lane to
//          lane through local memory, with barriers: right on every device, and without the gain.
//   banks  One word a warp is stored and 8 neighbouring words are read: no conflict, and 16 passes for a tile where the
//          trees take hundreds. One barrier is left of them.
//
// Contract
//   launch  max(1, ceil(n / TILE)) groups of exactly BLOCK work-items, one-dimensional
//   in      n words, from a multiple of 16 bytes on; not read when n is 0
//   out     n words, from a multiple of 16 bytes on: out[i] = sum of in[first of its tile .. i), modulo 2^32; may be
//           the same memory as `in`
//   totals  one word per group: the sum of its tile, zero if n is 0
//   n       any, including 0
// For a whole scan: scan `totals` the same way until one tile holds them all, then add each tile's offset
// (add_offsets_wide.cl).

#ifndef BLOCK
#define BLOCK 256u  // work-items per group; a multiple of 32, at most 1024
#endif
#define WARP 32u  // lanes of a warp
#define WARPS (BLOCK / WARP)
#define ROWS 2u                     // times four words of each lane
#define ROW (4 * WARP)              // words of a warp in a row
#define TILE (WARPS * ROWS * ROW)   // words per group

// The word of another lane of the warp. All lanes of the group must call.
#ifdef __NV_CL_C_VERSION
#define EXCHANGE_SLOTS 1
uint shuffle_idx(uint lane, uint word, __local uint* exchange) {
  uint theirs;
  __asm__ volatile("shfl.sync.idx.b32 %0, %1, %2, 0x1f, 0xffffffff;" : "=r"(theirs) : "r"(word), "r"(lane));
  return theirs;
}
#else
#define EXCHANGE_SLOTS BLOCK  // where each lane leaves its word
uint shuffle_idx(uint lane, uint word, __local uint* exchange) {
  exchange[get_local_id(0)] = word;
  barrier(CLK_LOCAL_MEM_FENCE);
  const uint theirs = exchange[get_local_id(0) / WARP * WARP + lane % WARP];
  barrier(CLK_LOCAL_MEM_FENCE);  // the slots are free again
  return theirs;
}
#endif

// Words i to i + 3, as far as there are so many. Aligned to 16 bytes, they come at once.
uint4 load(__global const uint* in, ulong i, ulong n) {
  if (i + 3 < n) return *(__global const uint4*)(in + i);
  uint4 words = (uint4)(0);
  if (i < n) words.x = in[i];
  if (i + 1 < n) words.y = in[i + 1];
  if (i + 2 < n) words.z = in[i + 2];
  return words;
}

// Stores what stands before each of four words, given what stands before the first.
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

// The sum of all lanes' words, in each of them.
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
  uint4 words[ROWS];
  for (uint row = 0; row < ROWS; ++row) words[row] = load(in, first + row * ROW, n);
  uint before[ROWS] = {0}, total = 0;  // what stands before each four words

  // --- shared-memory section ---
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
  if (lane == 0) warp_total[warp] = rows_before;
  barrier(CLK_LOCAL_MEM_FENCE);
  const uint other = lane < WARPS ? warp_total[lane] : 0;
  total = warp_sum(other, exchange);
  const uint warps_before = warp_sum(lane < warp ? other : 0, exchange);
  for (uint row = 0; row < ROWS; ++row) before[row] += warps_before;
  // --- end of section ---

  for (uint row = 0; row < ROWS; ++row) store(out, first + row * ROW, n, before[row], words[row]);
  if (get_local_id(0) == 0) totals[get_group_id(0)] = total;
}
