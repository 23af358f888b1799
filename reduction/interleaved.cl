// SPDX-License-Identifier: MIT-0
//
// Sum of each tile of BLOCK uint4 records, component-wise, modulo 2^32: the tree of modulo.cl with its work packed.
//
//   lanes  Busy work-items follow each other: work-item k takes what work-item 2 * stride * k did. Whole warps fall
//          idle.
//   banks  They still add the same records, now from the lanes of one quarter-warp: work-item k is at word 8 * stride *
//          k. Of 8 lanes, 2 meet in each bank at stride 1, 4 at stride 2, 8 from stride 4 on. So every step takes the
//          passes that it took in modulo.cl, 414 in all: divergence has become bank conflicts. sequential.cl has
//          neither.
//
// Contract
//   launch  max(1, ceil(n / BLOCK)) groups of exactly BLOCK work-items, one-dimensional
//   in      n records, 16-byte aligned; not read when n is 0
//   out     one record per group: the sum of in[group * BLOCK .. group * BLOCK + BLOCK), as far as n reaches
//   n       any, including 0, which gives one zero record
// For the sum of everything reduce `out` again, into other memory, until one record is left.

#ifndef BLOCK
#define BLOCK 256u  // work-items per group, records per tile; a power of two
#endif

__kernel __attribute__((reqd_work_group_size(BLOCK, 1, 1)))
void reduce_interleaved(__global const uint4* restrict in, __global uint4* restrict out, ulong n) {
  __local uint4 part[BLOCK];

  const uint tid = get_local_id(0);
  const size_t i = (size_t)get_group_id(0) * BLOCK + tid;
  const uint4 mine = i < n ? in[i] : (uint4)(0);

  // --- shared-memory section ---
  part[tid] = mine;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint stride = 1; stride < BLOCK; stride *= 2) {
    const uint left = 2 * stride * tid;
    if (left < BLOCK) {
      part[left] += part[left + stride];
    }
    barrier(CLK_LOCAL_MEM_FENCE);  // outside the branch: every work-item must arrive
  }
  // --- end of section ---

  if (tid == 0) out[get_group_id(0)] = part[0];
}
