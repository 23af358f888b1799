// SPDX-License-Identifier: MIT-0
//
// Evicts the caches: a grid-stride loop reads one word of every 32-byte sector of a buffer, and writes nothing.
//
// Contract
//   launch  any number of groups of exactly BLOCK work-items
//   in      n words, none of them 1
//   out     one word; never written, but the compiler cannot prove it
//   n       any, including 0

#define BLOCK 256u  // work-items per group
#define SECTOR 8u  // words; the smallest unit that GPUs fetch

__kernel __attribute__((reqd_work_group_size(BLOCK, 1, 1)))
void read_all(__global const uint* restrict in, __global uint* restrict out, ulong n) {
  uint seen = 0;
  for (size_t i = get_global_id(0) * SECTOR; i < n; i += get_global_size(0) * SECTOR) seen |= in[i];
  if (seen == 1) out[0] = seen;
}
