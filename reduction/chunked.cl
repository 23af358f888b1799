// SPDX-License-Identifier: MIT-0
//
// Parallel reduction for CPUs: every work-item sums one contiguous chunk sequentially, without local memory or
// barriers. Sums uint4 records, component-wise, modulo 2^32.
//
// Changed against streaming.cl: one work-item per work-group, no local memory.
//
//   lanes  One work-item per work-group. A CPU core has vector registers instead of lanes: eight of them hold
//          independent sums, which hides the latency of the additions. Each work-item reads memory sequentially, which
//          suits the core's hardware prefetcher. The kernel has no barrier, because a CPU runtime executes the code
//          between two barriers as a loop over all work-items of a group, with their registers in memory.
//   banks  None: the kernel uses no local memory. On a CPU, local memory is ordinary memory.
//
// Contract
//   launch  any number of work-groups of exactly one work-item, one-dimensional: a few per core
//   in      n records, 16-byte aligned; not read when n is 0
//   out     one record per work-group: the sum of its chunk of ceil(n / work-groups) records, clipped to n
//   n       any, including 0, which gives records of zeros
// To sum all n records, launch the kernel again on `out` with one work-group, into another buffer.

#define WIDTH 8u  // independent sums, one record each per iteration

__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void reduce_chunked(__global const uint4* restrict in, __global uint4* restrict out, ulong n) {
  // this work-item's chunk
  const size_t groups = get_num_groups(0), group = get_group_id(0);
  const size_t chunk = n / groups + (n % groups != 0);
  size_t i = group * chunk;
  const size_t end = min((size_t)n, i + chunk);

  // WIDTH independent sums hide the latency of the additions
  uint4 sums[WIDTH];
#pragma unroll
  for (uint k = 0; k < WIDTH; ++k) sums[k] = (uint4)(0);
  for (; i + WIDTH <= end; i += WIDTH) {
#pragma unroll
    for (uint k = 0; k < WIDTH; ++k) sums[k] += in[i + k];
  }
  // add the sums, and the rest of the chunk
  uint4 sum = sums[0];
#pragma unroll
  for (uint k = 1; k < WIDTH; ++k) sum += sums[k];
  for (; i < end; ++i) sum += in[i];

  out[group] = sum;
}
