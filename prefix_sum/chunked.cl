// SPDX-License-Identifier: MIT-0
//
// Reduce-then-scan for CPUs: the exclusive prefix sum of n words, modulo 2^32. In the first launch, of chunk_sums, each
// work-item adds up one chunk of consecutive words. In the second, of chunked, it scans the chunk sequentially, and
// starts from the sum of the chunks before its own.
//
// Kernels: chunk_sums, chunked
//
//   lanes  One work-item per group. A CPU core has SIMD registers instead of lanes. Three additions of shifted vectors
//          scan eight words, and only one addition per vector depends on the vector before it. The sequential reads
//          suit the core's hardware prefetcher. There is no barrier, because a CPU runtime executes the code between
//          two barriers as a loop over all work-items, with their registers in memory.
//   banks  The kernel uses no local memory. On a CPU, local memory is ordinary cached memory.
//
// Contract
//   launch  any number of groups of exactly one work-item, one-dimensional: a few per core, as many in both launches
//   in      n words; not read when n is 0
//   out     n words: out[i] = sum of in[0 .. i), modulo 2^32; may be the same memory as `in`
//   sums    one word per group: the sum of its chunk (see `chunk`), 0 if it is empty
//   n       any, including 0

#define WIDTH 8u       // words per vector of chunked
#define SUM_WIDTH 16u  // words per vector of chunk_sums

// Words per group, a whole number of cache lines of a CPU. The last groups may have fewer.
ulong chunk(ulong n) { return (n / get_num_groups(0) / 16 + 1) * 16; }

__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void scan_chunk_sums(__global const uint* restrict in, __global uint* restrict sums, ulong n) {
  size_t i = min(n, get_group_id(0) * chunk(n));
  const size_t end = min(n, i + chunk(n));

  // add up two vectors per iteration, in two independent accumulators
  uint16 even = (uint16)(0), odd = (uint16)(0);
  for (; i + 2 * SUM_WIDTH <= end; i += 2 * SUM_WIDTH) {
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
