// SPDX-License-Identifier: MIT-0
//
// Sum of each tile of BLOCK uint4 records, component-wise, modulo 2^32: a tree over 16-byte records.
//
//   lanes  Step by step the first half adds the second half to itself. Busy lanes stay packed, so whole wavefronts
//          retire early; the last steps leave one wavefront, ever emptier.
//   banks  Work-item t reads words 4t .. 4t + 3. NVIDIA since Volta serves a 16-byte access a quarter-warp at a time:
//          8 lanes x 4 words cover the 32 banks once, no conflict. Hardware that splits the access into words
//          meets stride 4, four lanes in a bank: naive.cl shows that case, packed.cl its cure.
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
void reduce_sequential(__global const uint4* restrict in, __global uint4* restrict out, ulong n) {
  __local uint4 part[BLOCK];

  const uint tid = get_local_id(0);
  const size_t i = (size_t)get_group_id(0) * BLOCK + tid;
  const uint4 mine = i < n ? in[i] : (uint4)(0);

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
