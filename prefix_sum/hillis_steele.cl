// SPDX-License-Identifier: MIT-0
//
// Hillis-Steele scan (1986, "Data Parallel Algorithms"), double-buffered in local memory: the exclusive prefix sum of
// each tile of BLOCK words, modulo 2^32, and the tile's total. In step s = 1, 2, 4, 8 ... each work-item adds to its
// word the word that is s places before it. After log2(BLOCK) steps each word holds the sum of all words up to and
// including itself.
//
// hillis_steele.cuh explains what it changes, its lanes and its banks.
//
// Contract
//   launch  max(1, ceil(n / TILE)) groups of exactly BLOCK work-items, one-dimensional
//   in      n words; not read when n is 0
//   out     n words: out[i] = sum of in[first word of its tile .. i), modulo 2^32; may be the same memory as `in`
//   totals  one word per group: the sum of its tile, zero if n is 0
//   n       any, including 0
// To scan an array of many tiles (scan-then-propagate): scan `totals` with the same kernel until one tile holds them
// all, then add each tile's offset to its words (add_offsets.cl).

#define BLOCK 512u  // work-items per group; a power of two
#define TILE BLOCK  // words per group

__kernel __attribute__((reqd_work_group_size(BLOCK, 1, 1)))
void scan_hillis_steele(__global const uint* in, __global uint* out, __global uint* totals, ulong n) {
  __local uint sums[2][TILE];

  // load one word per work-item, coalesced; zero past the end
  const uint tid = get_local_id(0);
  const size_t i = (size_t)get_group_id(0) * TILE + tid;
  const uint word = i < n ? in[i] : 0;
  uint before = 0, total = 0;

  // --- shared-memory section ---
  // stage the words in the first buffer
  uint sum = word;
  uint from = 0;
  sums[from][tid] = sum;

  // add the word `step` places before, reading one buffer and writing the other
  for (uint step = 1; step < TILE; step *= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);  // outside the branch: every work-item must arrive
    if (tid >= step) sum += sums[from][tid - step];
    from = 1 - from;
    sums[from][tid] = sum;
  }

  // inclusive to exclusive: take the sum of the work-item before
  barrier(CLK_LOCAL_MEM_FENCE);
  before = tid > 0 ? sums[from][tid - 1] : 0;
  total = sum;  // the tile's total, in the last work-item
  // --- end of section ---

  // store the results, coalesced, and the total
  if (i < n) out[i] = before;
  if (tid == BLOCK - 1) totals[get_group_id(0)] = total;
}
