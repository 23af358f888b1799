// SPDX-License-Identifier: MIT-0
//
// Sum of each tile of 2 * BLOCK uint4 records, component-wise, modulo 2^32: the tree of sequential.cl after a first
// addition.
//
//   lanes  In sequential.cl half of the work-items load a record, store it, and never add anything. Here each loads two
//          records, which are under way at the same time, and adds them in registers: half as many groups, and half
//          as much tree for each record.
//   banks  As in sequential.cl: no conflict, 135 passes; for 512 records instead of 256.
//
// Contract
//   launch  max(1, ceil(n / TILE)) groups of exactly BLOCK work-items, one-dimensional
//   in      n records, 16-byte aligned; not read when n is 0
//   out     one record per group: the sum of in[group * TILE .. group * TILE + TILE), as far as n reaches
//   n       any, including 0, which gives one zero record
// For the sum of everything reduce `out` again, into other memory, until one record is left.

#ifndef BLOCK
#define BLOCK 256u  // work-items per group; a power of two
#endif
#define TILE (2 * BLOCK)  // records per group

__kernel __attribute__((reqd_work_group_size(BLOCK, 1, 1)))
void reduce_first_add(__global const uint4* restrict in, __global uint4* restrict out, ulong n) {
  __local uint4 part[BLOCK];

  const uint tid = get_local_id(0);
  const size_t i = (size_t)get_group_id(0) * TILE + tid;  // and BLOCK further on: a warp's loads stay side by side
  const uint4 first = i < n ? in[i] : (uint4)(0);
  const uint4 second = i + BLOCK < n ? in[i + BLOCK] : (uint4)(0);
  const uint4 mine = first + second;

  // --- shared-memory section ---
  part[tid] = mine;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint stride = BLOCK / 2; stride > 0; stride /= 2) {
    if (tid < stride) {
      part[tid] += part[tid + stride];
    }
    barrier(CLK_LOCAL_MEM_FENCE);  // outside the branch: every work-item must arrive
  }
  // --- end of section ---

  if (tid == 0) out[get_group_id(0)] = part[0];
}
