// SPDX-License-Identifier: MIT-0
//
// Reduce-then-scan for CPUs, second launch (chunk_sums.cl is the first): the exclusive prefix sum of n words, modulo
// 2^32. Each work-item scans one chunk of consecutive words sequentially. It starts from the sum of the chunks before
// its own.
//
//   lanes  One work-item per group. A CPU core has SIMD registers instead of lanes. Three additions of shifted vectors
//          scan eight words, and only one addition per vector depends on the vector before it. The sequential reads
//          suit the core's hardware prefetcher. There is no barrier, because a CPU runtime executes the code between
//          two barriers as a loop over all work-items, with their registers in memory.
//   banks  The kernel uses no local memory. On a CPU, local memory is ordinary cached memory.
//
// Contract
//   launch  any number of groups of exactly one work-item, one-dimensional: a few per core
//   in      n words; not read when n is 0
//   out     n words: out[i] = sum of in[0 .. i), modulo 2^32; may be the same memory as `in`
//   sums    one word per group, from a launch of chunk_sums.cl with as many groups
//   n       any, including 0

#define WIDTH 8u  // words per vector

// Words per group, a whole number of cache lines of a CPU. The last groups may have fewer.
ulong chunk(ulong n) {
  return (n / get_num_groups(0) / 16 + 1) * 16;
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void scan_chunked(__global const uint* in, __global uint* out, __global const uint* restrict sums, ulong n) {
  size_t i = min(n, get_group_id(0) * chunk(n));
  const size_t end = min(n, i + chunk(n));

  // add up the sums of the chunks before this one
  uint before = 0;
  for (uint group = 0; group < get_group_id(0); ++group) before += sums[group];

  // scan the chunk, one vector per iteration
  for (; i + WIDTH <= end; i += WIDTH) {
    const uint8 words = vload8(0, in + i);
    uint8 sum = words;
    sum += (uint8)(0, sum.s0123, sum.s456);
    sum += (uint8)(0, 0, sum.s0123, sum.s45);
    sum += (uint8)((uint4)(0), sum.s0123);
    vstore8(before + (sum - words), 0, out + i);
    before += sum.s7;
  }

  // scan the remaining words
  for (; i < end; ++i) {
    const uint word = in[i];
    out[i] = before;
    before += word;
  }
}
