// SPDX-License-Identifier: MIT-0
//
// Parallel reduction, bank conflicts fixed by padding: packed 20-byte records (uint4 and one padding word). Reference:
// fsword73, "Bank conflicts in reduction and prefix sum" (Radeon HD 5870). Sums each tile of BLOCK uint4 records,
// component-wise, modulo 2^32.
//
// packed.cuh explains what it changes, its lanes and its banks. The record needs both attributes. Without `packed`,
// uint4's alignment of 16 makes it eight words long, stride 8. Without `aligned(4)`, a packed record has alignment 1,
// and a compiler may access it byte by byte.
//
// Contract
//   launch  max(1, ceil(n / BLOCK)) work-groups of exactly BLOCK work-items, one-dimensional
//   in      n records, 16-byte aligned; not read when n is 0
//   out     one record per work-group: the sum of in[b * BLOCK .. min((b + 1) * BLOCK, n)) for work-group b
//   n       any, including 0, which gives one record of zeros
// To sum all n records, launch the kernel again on `out`, into another buffer, until one record is left.

#define BLOCK 256u  // work-items per work-group, records per tile; a power of two

typedef struct __attribute__((packed, aligned(4))) {
  uint4 data;
  uint pad;
} Record;  // 20 bytes, alignment 4

__kernel __attribute__((reqd_work_group_size(BLOCK, 1, 1)))
void reduce_packed(__global const uint4* restrict in, __global uint4* restrict out, ulong n) {
  __local Record part[BLOCK];

  const uint tid = get_local_id(0);
  const size_t i = (size_t)get_group_id(0) * BLOCK + tid;
  // load one record per work-item, coalesced; zero past the end
  const uint4 mine = i < n ? in[i] : (uint4)(0);

  // --- shared-memory section ---
  // store to local memory, padded to five words
  part[tid].data = mine;
  barrier(CLK_LOCAL_MEM_FENCE);
  // tree in local memory, sequential addressing: stride 5, no bank conflicts
  for (uint stride = BLOCK / 2; stride > 0; stride /= 2) {
    if (tid < stride) {
      part[tid].data += part[tid + stride].data;
    }
    barrier(CLK_LOCAL_MEM_FENCE);  // outside the branch: every work-item must arrive
  }
  // --- end of section ---

  // work-item 0 stores the work-group's partial sum
  if (tid == 0) out[get_group_id(0)] = part[0].data;
}
