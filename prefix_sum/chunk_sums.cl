// SPDX-License-Identifier: MIT-0
//
// Reduce-then-scan for CPUs, first launch (chunked.cl is the second): the sum of each group's chunk of consecutive
// words, modulo 2^32.
//
//   lanes  One work-item per group, as in chunked.cl.
//   banks  No local memory.
//
// Contract
//   launch  any number of groups of exactly one work-item, one-dimensional: as many as for chunked.cl
//   in      n words; not read when n is 0
//   sums    one word per group: the sum of its chunk (see `chunk`)
//   n       any, including 0, which gives zeros

#define WIDTH 16u  // words per vector

// Words per group, a whole number of cache lines of a CPU. The last groups may have fewer.
ulong chunk(ulong n) {
  return (n / get_num_groups(0) / 16 + 1) * 16;
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void scan_chunk_sums(__global const uint* restrict in, __global uint* restrict sums, ulong n) {
  size_t i = min(n, get_group_id(0) * chunk(n));
  const size_t end = min(n, i + chunk(n));

  // add up two vectors per iteration, in two independent accumulators
  uint16 even = (uint16)(0), odd = (uint16)(0);
  for (; i + 2 * WIDTH <= end; i += 2 * WIDTH) {
    even += vload16(0, in + i);
    odd += vload16(1, in + i);
  }

  // add the partial sums and the remaining words
  const uint16 both = even + odd;
  uint sum = both.s0 + both.s1 + both.s2 + both.s3 + both.s4 + both.s5 + both.s6 + both.s7 +
             both.s8 + both.s9 + both.sa + both.sb + both.sc + both.sd + both.se + both.sf;
  for (; i < end; ++i) sum += in[i];

  sums[get_group_id(0)] = sum;
}
