// SPDX-License-Identifier: MIT-0
//
// Sums of uint4 records, component-wise, modulo 2^32, as a CPU likes it best: every work-item sums one stretch of
// memory from front to back, by itself.
//
//   lanes  One in a group. A CPU's core has no lanes to fill, but vector registers: eight of them add up a record each,
//          so none waits for another, and memory is read in the order in which the core's prefetcher expects it. No
//          barrier, which a CPU would have to make of loops over all work-items, with their registers in memory.
//   banks  None: no local memory, which on a CPU is memory like any other.
//
// Contract
//   launch  any number of groups of exactly one work-item, one-dimensional: a few for each core
//   in      n records, 16-byte aligned; not read when n is 0
//   out     one record per group: the sum of its stretch of ceil(n / groups) records, as far as n reaches
//   n       any, including 0, which gives zero records
// For the sum of everything reduce `out` again with one group, into other memory.

#define WIDTH 8u  // records at once, each with a sum of its own

__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void reduce_chunked(__global const uint4* restrict in, __global uint4* restrict out, ulong n) {
  const size_t groups = get_num_groups(0), group = get_group_id(0);
  const size_t chunk = n / groups + (n % groups != 0);
  size_t i = group * chunk;
  const size_t end = min((size_t)n, i + chunk);

  uint4 sums[WIDTH];
#pragma unroll
  for (uint k = 0; k < WIDTH; ++k) sums[k] = (uint4)(0);
  for (; i + WIDTH <= end; i += WIDTH) {
#pragma unroll
    for (uint k = 0; k < WIDTH; ++k) sums[k] += in[i + k];
  }
  uint4 sum = sums[0];
#pragma unroll
  for (uint k = 1; k < WIDTH; ++k) sum += sums[k];
  for (; i < end; ++i) sum += in[i];

  out[group] = sum;
}
