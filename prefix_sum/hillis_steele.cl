// SPDX-License-Identifier: MIT-0
//
// Exclusive prefix sum of each tile of BLOCK words, modulo 2^32, and the total of the tile: Hillis and Steele's scan.
// Each word adds what stands 1 before it, then 2, 4, 8 ... before it, and then holds the sum of all up to itself.
//
//   lanes  All busy in every step, but for the first few, before which nothing stands: log2(BLOCK) additions a word,
//          where one would do. naive.cl is the cure.
//   banks  Neighbouring lanes read neighbouring words at any distance: no conflict. There are two buffers in turn,
//          since a word that is read by one work-item is written by another.
//
// Contract
//   launch  max(1, ceil(n / TILE)) groups of exactly BLOCK work-items, one-dimensional
//   in      n words; not read when n is 0
//   out     n words: out[i] = sum of in[first of its tile .. i), modulo 2^32; may be the same memory as `in`
//   totals  one word per group: the sum of its tile, zero if n is 0
//   n       any, including 0
// For a whole scan: scan `totals` the same way until one tile holds them all, then add each tile's offset
// (add_offsets.cl).

#ifndef BLOCK
#define BLOCK 512u  // work-items per group; a power of two
#endif
#define TILE BLOCK  // words per group

__kernel __attribute__((reqd_work_group_size(BLOCK, 1, 1)))
void scan_hillis_steele(__global const uint* in, __global uint* out, __global uint* totals, ulong n) {
  __local uint sums[2][TILE];

  const uint tid = get_local_id(0);
  const size_t i = (size_t)get_group_id(0) * TILE + tid;
  const uint word = i < n ? in[i] : 0;
  uint before = 0, total = 0;

  // --- shared-memory section ---
  uint sum = word;
  uint from = 0;
  sums[from][tid] = sum;
  for (uint step = 1; step < TILE; step *= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);  // outside the branch: every work-item must arrive
    if (tid >= step) sum += sums[from][tid - step];
    from = 1 - from;
    sums[from][tid] = sum;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  before = tid > 0 ? sums[from][tid - 1] : 0;
  total = sum;  // in the last work-item
  // --- end of section ---

  if (i < n) out[i] = before;
  if (tid == BLOCK - 1) totals[get_group_id(0)] = total;
}
