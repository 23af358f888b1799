// SPDX-License-Identifier: MIT-0
//
// Parallel reduction, interleaved addressing with a modulo test and divergent branches: Harris 2007, "Optimizing
// Parallel Reduction in CUDA", kernel 1. Sums each tile of BLOCK uint4 records, component-wise, modulo 2^32.
//
//   lanes  In each step every second of the remaining work-items adds its neighbour's partial sum. The active
//          work-items lie further and further apart, so up to stride 16 all 8 warps issue, at stride 16 for one active
//          lane each: ALU utilization is 50, 25, 12.5 % and less. The modulo test is an integer division per work-item
//          unless the compiler replaces it.
//   banks  Work-item t accesses words 4t .. 4t + 3, as in sequential.cl, so no two lanes of a quarter-warp share a
//          bank. But a quarter-warp with one active lane takes a whole pass, as with eight active lanes: 414 passes
//          (NVIDIA: wavefronts) per work-group, where sequential.cl takes 135. (If every second lane of a load is
//          inactive, NVIDIA's hardware merges pairs of quarter-warps. Here two lanes of each merged pair share a bank,
//          so the pair takes two passes after all: 96 of the 414 passes count as conflicts.)
//
// Contract
//   launch  max(1, ceil(n / BLOCK)) work-groups of exactly BLOCK work-items, one-dimensional
//   in      n records, 16-byte aligned; not read when n is 0
//   out     one record per work-group: the sum of in[b * BLOCK .. min((b + 1) * BLOCK, n)) for work-group b
//   n       any, including 0, which gives one record of zeros
// To sum all n records, launch the kernel again on `out`, into another buffer, until one record is left.

#ifndef BLOCK
#define BLOCK 256u  // work-items per work-group, records per tile; a power of two
#endif

__kernel __attribute__((reqd_work_group_size(BLOCK, 1, 1)))
void reduce_modulo(__global const uint4* restrict in, __global uint4* restrict out, ulong n) {
  __local uint4 part[BLOCK];

  const uint tid = get_local_id(0);
  const size_t i = (size_t)get_group_id(0) * BLOCK + tid;
  // load one record per work-item, coalesced; zero past the end
  const uint4 mine = i < n ? in[i] : (uint4)(0);

  // --- shared-memory section ---
  // store to local memory
  part[tid] = mine;
  barrier(CLK_LOCAL_MEM_FENCE);
  // tree in local memory, interleaved addressing: divergent
  for (uint stride = 1; stride < BLOCK; stride *= 2) {
    if (tid % (2 * stride) == 0) {
      part[tid] += part[tid + stride];
    }
    barrier(CLK_LOCAL_MEM_FENCE);  // outside the branch: every work-item must arrive
  }
  // --- end of section ---

  // work-item 0 stores the work-group's partial sum
  if (tid == 0) out[get_group_id(0)] = part[0];
}
