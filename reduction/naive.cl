// SPDX-License-Identifier: MIT-0
//
// sequential.cl one component at a time: what a 16-byte record costs where words are served one by one.
//
//   lanes  As in sequential.cl.
//   banks  Component c of work-item t is word 4t + c: stride 4, so 32 lanes meet in 8 banks, four in each. 4-way
//          conflicts wherever 32 lanes work. The record has an alignment of 4, which keeps a compiler from merging the
//          four words of the tree into one access.
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

typedef struct {
  uint x, y, z, w;
} Record;  // 16 bytes, alignment 4

__kernel __attribute__((reqd_work_group_size(BLOCK, 1, 1)))
void reduce_naive(__global const uint4* restrict in, __global uint4* restrict out, ulong n) {
  __local Record part[BLOCK];

  const uint tid = get_local_id(0);
  const size_t i = (size_t)get_group_id(0) * BLOCK + tid;
  const uint4 mine = i < n ? in[i] : (uint4)(0);

  // --- shared-memory section ---
  part[tid].x = mine.x;
  part[tid].y = mine.y;
  part[tid].z = mine.z;
  part[tid].w = mine.w;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint stride = BLOCK / 2; stride > 0; stride /= 2) {
    if (tid < stride) {
      part[tid].x += part[tid + stride].x;
      part[tid].y += part[tid + stride].y;
      part[tid].z += part[tid + stride].z;
      part[tid].w += part[tid + stride].w;
    }
    barrier(CLK_LOCAL_MEM_FENCE);  // outside the branch: every work-item must arrive
  }
  // --- end of section ---

  if (tid == 0) out[get_group_id(0)] = (uint4)(part[0].x, part[0].y, part[0].z, part[0].w);
}
