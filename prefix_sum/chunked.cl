// SPDX-License-Identifier: MIT-0
//
// Exclusive prefix sum of n words, modulo 2^32, as a CPU likes it best: every work-item scans one stretch of memory
// from front to back, by itself. What stands before its stretch it adds up from the sums of the others (chunk_sums.cl).
//
//   lanes  One in a group. A CPU's core has no lanes to fill, but wide registers: eight words at once are scanned in
//          three additions of shifted vectors, and all that one vector has to wait for in the one before it is one
//          addition. Memory is read in the order in which the core's prefetcher expects it. No barrier, which a CPU
//          would have to make of loops over all work-items, with their registers in memory.
//   banks  None: no local memory, which on a CPU is memory like any other.
//
// Contract
//   launch  any number of groups of exactly one work-item, one-dimensional: a few for each core
//   in      n words; not read when n is 0
//   out     n words: out[i] = sum of in[0 .. i), modulo 2^32; may be the same memory as `in`
//   sums    one word per group, from as many groups of chunk_sums.cl
//   n       any, including 0

#define WIDTH 8u  // words at once

// Words of each group's stretch, but for the last ones: the same number for each, and in whole lines of a CPU's cache.
ulong chunk(ulong n) {
  return (n / get_num_groups(0) / 16 + 1) * 16;
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void scan_chunked(__global const uint* in, __global uint* out, __global const uint* restrict sums, ulong n) {
  size_t i = min(n, get_group_id(0) * chunk(n));
  const size_t end = min(n, i + chunk(n));
  uint before = 0;
  for (uint group = 0; group < get_group_id(0); ++group) before += sums[group];

  for (; i + WIDTH <= end; i += WIDTH) {
    const uint8 words = vload8(0, in + i);
    uint8 sum = words;
    sum += (uint8)(0, sum.s0123, sum.s456);
    sum += (uint8)(0, 0, sum.s0123, sum.s45);
    sum += (uint8)((uint4)(0), sum.s0123);
    vstore8(before + (sum - words), 0, out + i);
    before += sum.s7;
  }
  for (; i < end; ++i) {
    const uint word = in[i];
    out[i] = before;
    before += word;
  }
}
