// SPDX-License-Identifier: MIT-0
//
// Parallel reduction with 4-way bank conflicts: sequential addressing by 32-bit accesses at a stride of four words.
// Hardware that splits 16-byte accesses into words makes the same accesses (fsword73, "Bank conflicts in reduction and
// prefix sum", on a Radeon HD 5870). Sums each tile of BLOCK uint4 records, component-wise, modulo 2^32.
//
// naive.cuh explains what it changes, its lanes and its banks. The record has alignment 4, which keeps the compiler
// from merging the four 32-bit accesses of the tree into one 16-byte access.
//
// Contract
//   launch  max(1, ceil(n / BLOCK)) work-groups of exactly BLOCK work-items, one-dimensional
//   in      n records, 16-byte aligned; not read when n is 0
//   out     one record per work-group: the sum of in[b * BLOCK .. min((b + 1) * BLOCK, n)) for work-group b
//   n       any, including 0, which gives one record of zeros
// To sum all n records, launch the kernel again on `out`, into another buffer, until one record is left.

#define BLOCK 256u  // work-items per work-group, records per tile; a power of two

typedef struct {
  uint x, y, z, w;
} Record;  // 16 bytes, alignment 4

__kernel __attribute__((reqd_work_group_size(BLOCK, 1, 1)))
void reduce_naive(__global const uint4* restrict in, __global uint4* restrict out, ulong n) {
  __local Record part[BLOCK];

  const uint tid = get_local_id(0);
  const size_t i = (size_t)get_group_id(0) * BLOCK + tid;
  // load one record per work-item, coalesced; zero past the end
  const uint4 mine = i < n ? in[i] : (uint4)(0);

  // --- shared-memory section ---
  // store to local memory, word by word: stride 4
  part[tid].x = mine.x;
  part[tid].y = mine.y;
  part[tid].z = mine.z;
  part[tid].w = mine.w;
  barrier(CLK_LOCAL_MEM_FENCE);
  // tree in local memory, sequential addressing: 4-way bank conflicts
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

  // work-item 0 stores the work-group's partial sum
  if (tid == 0) out[get_group_id(0)] = (uint4)(part[0].x, part[0].y, part[0].z, part[0].w);
}
