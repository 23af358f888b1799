// SPDX-License-Identifier: MIT-0
//
// Sum of each tile of BLOCK uint4 records, component-wise, modulo 2^32: the tree as one first thinks of it.
//
//   lanes  Step by step every second of the work-items that are left adds its neighbour's sum. The busy work-items lie
//          further and further apart, so up to stride 16 every warp has work, in the end for one lane: 50, 25, 12.5 %
//          of ALUs in use. And the remainder decides lane by lane: an integer division, unless the compiler knows
//          better.
//   banks  Work-item t reads words 4t .. 4t + 3, as in sequential.cl, so no two lanes of a quarter-warp meet in a bank.
//          But a quarter with one busy lane takes a pass as one with eight does: 414 passes where sequential.cl needs
//          135. (For a load whose every second lane idles NVIDIA's hardware joins quarters in pairs. There two lanes do
//          meet, which makes two passes again: 96 of the 414 count as conflicts.)
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
void reduce_modulo(__global const uint4* restrict in, __global uint4* restrict out, ulong n) {
  __local uint4 part[BLOCK];

  const uint tid = get_local_id(0);
  const size_t i = (size_t)get_group_id(0) * BLOCK + tid;
  const uint4 mine = i < n ? in[i] : (uint4)(0);

  // --- shared-memory section ---
  part[tid] = mine;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint stride = 1; stride < BLOCK; stride *= 2) {
    if (tid % (2 * stride) == 0) {
      part[tid] += part[tid + stride];
    }
    barrier(CLK_LOCAL_MEM_FENCE);  // outside the branch: every work-item must arrive
  }
  // --- end of section ---

  if (tid == 0) out[get_group_id(0)] = part[0];
}
