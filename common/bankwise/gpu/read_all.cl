// SPDX-License-Identifier: MIT-0
//
// Evicts the caches, and measures the bandwidth of the L2 cache or of DRAM: a grid-stride loop reads one word of every
// 32-byte sector of a buffer, and writes nothing.
//
// Contract
//   launch  any number of groups of exactly BLOCK work-items
//   in      n words, none of them 1
//   out     one word; never written, but the compiler cannot prove it
//   n       any, including 0
//   rounds  how often all of them are read

#define BLOCK 256u  // work-items per group
#define SECTOR 8u  // words; the smallest unit that GPUs fetch

__kernel __attribute__((reqd_work_group_size(BLOCK, 1, 1)))
void read_all(__global const volatile uint* restrict in, __global uint* restrict out, ulong n, ulong rounds) {
  uint seen = 0;
  for (ulong round = 0; round < rounds; ++round) {
    for (size_t i = get_global_id(0) * SECTOR; i < n; i += get_global_size(0) * SECTOR) seen |= in[i];
  }
  if (seen == 1) out[0] = seen;
}
