// SPDX-License-Identifier: MIT-0
//
// Parallel reduction, interleaved addressing with strided indices, which cause bank conflicts: Harris 2007, "Optimizing
// Parallel Reduction in CUDA", kernel 2. Sums each tile of BLOCK uint4 records, component-wise, modulo 2^32.
//
// interleaved.cuh explains what it changes, its lanes and its banks.
//
// Contract
//   launch  max(1, ceil(n / BLOCK)) work-groups of exactly BLOCK work-items, one-dimensional
//   in      n records, 16-byte aligned; not read when n is 0
//   out     one record per work-group: the sum of in[b * BLOCK .. min((b + 1) * BLOCK, n)) for work-group b
//   n       any, including 0, which gives one record of zeros
// To sum all n records, launch the kernel again on `out`, into another buffer, until one record is left.

#define BLOCK 256u  // work-items per work-group, records per tile; a power of two

__kernel __attribute__((reqd_work_group_size(BLOCK, 1, 1)))
void reduce_interleaved(__global const uint4* restrict in, __global uint4* restrict out, ulong n) {
  __local uint4 part[BLOCK];

  const uint tid = get_local_id(0);
  const size_t i = (size_t)get_group_id(0) * BLOCK + tid;
  // load one record per work-item, coalesced; zero past the end
  const uint4 mine = i < n ? in[i] : (uint4)(0);

  // --- shared-memory section ---
  // store to local memory
  part[tid] = mine;
  barrier(CLK_LOCAL_MEM_FENCE);
  // tree in local memory, interleaved addressing: strided, with bank conflicts
  for (uint stride = 1; stride < BLOCK; stride *= 2) {
    const uint left = 2 * stride * tid;
    if (left < BLOCK) {
      part[left] += part[left + stride];
    }
    barrier(CLK_LOCAL_MEM_FENCE);  // outside the branch: every work-item must arrive
  }
  // --- end of section ---

  // work-item 0 stores the work-group's partial sum
  if (tid == 0) out[get_group_id(0)] = part[0];
}
