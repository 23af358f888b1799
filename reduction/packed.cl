// SPDX-License-Identifier: MIT-0
//
// The tree of naive.cl on records of five words: one word of padding a record, and the stride becomes odd.
//
//   lanes  As in sequential.cl.
//   banks  Component c of work-item t is word 5t + c. 5 is odd, so 32 lanes meet in 32 banks: no conflict.
//          The price: alignment 4 splits every 16-byte access into four. Where the hardware serves 16 bytes a lane
//          without conflict (NVIDIA since Volta) sequential.cl needs fewer passes, 135 a group to 180 here.
//   The record must be packed, or uint4's alignment of 16 makes it eight words long, stride 8. And aligned(4), or
//   packed means alignment 1, and a compiler may go byte by byte.
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

typedef struct __attribute__((packed, aligned(4))) {
  uint4 data;
  uint pad;
} Record;  // 20 bytes, alignment 4

__kernel __attribute__((reqd_work_group_size(BLOCK, 1, 1)))
void reduce_packed(__global const uint4* restrict in, __global uint4* restrict out, ulong n) {
  __local Record part[BLOCK];

  const uint tid = get_local_id(0);
  const size_t i = (size_t)get_group_id(0) * BLOCK + tid;
  const uint4 mine = i < n ? in[i] : (uint4)(0);

  // --- shared-memory section ---
  part[tid].data = mine;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint stride = BLOCK / 2; stride > 0; stride /= 2) {
    if (tid < stride) {
      part[tid].data += part[tid + stride].data;
    }
    barrier(CLK_LOCAL_MEM_FENCE);  // outside the branch: every work-item must arrive
  }
  // --- end of section ---

  if (tid == 0) out[get_group_id(0)] = part[0].data;
}
