// SPDX-License-Identifier: MIT-0
//
// Second launch of a prefix sum on several devices: the exclusive prefix sum of the chunks' sums in place, modulo 2^32,
// and their total, by one work-group. The ranks then exchange their totals.
//
//   lanes  Latency-bound: a few hundred words. Hillis-Steele scan in local memory, BLOCK words per round.
//   banks  Consecutive words: no conflict.
//
// Contract
//   launch  one work-group of exactly BLOCK work-items
//   sums    `count` words, replaced by their exclusive prefix sums
//   total   one word: the sum of all
//   count   any

#define BLOCK 1024u  // work-items per work-group; a power of two

__kernel __attribute__((reqd_work_group_size(BLOCK, 1, 1)))
void scan_ranks_offsets(__global uint* restrict sums, __global uint* restrict total, ulong count) {
  __local uint part[BLOCK];

  const uint tid = get_local_id(0);
  uint before = 0;  // the sum of all earlier rounds
  for (ulong first = 0; first < count; first += BLOCK) {
    const uint word = first + tid < count ? sums[first + tid] : 0;
    part[tid] = word;
    for (uint step = 1; step < BLOCK; step *= 2) {
      barrier(CLK_LOCAL_MEM_FENCE);
      const uint lower = tid >= step ? part[tid - step] : 0;
      barrier(CLK_LOCAL_MEM_FENCE);
      part[tid] += lower;
    }
    if (first + tid < count) sums[first + tid] = before + part[tid] - word;
    barrier(CLK_LOCAL_MEM_FENCE);
    before += part[BLOCK - 1];
    barrier(CLK_LOCAL_MEM_FENCE);  // all have read it
  }
  if (tid == 0) total[0] = before;
}
