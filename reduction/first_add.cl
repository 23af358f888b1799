// SPDX-License-Identifier: MIT-0
//
// Parallel reduction, first addition during the global load: Harris 2007, "Optimizing Parallel Reduction in CUDA",
// kernel 4. Sums each tile of 2 * BLOCK uint4 records, component-wise, modulo 2^32.
//
// first_add.cuh explains what it changes, its lanes and its banks.
//
// Contract
//   launch  max(1, ceil(n / TILE)) work-groups of exactly BLOCK work-items, one-dimensional
//   in      n records, 16-byte aligned; not read when n is 0
//   out     one record per work-group: the sum of in[b * TILE .. min((b + 1) * TILE, n)) for work-group b
//   n       any, including 0, which gives one record of zeros
// To sum all n records, launch the kernel again on `out`, into another buffer, until one record is left.

#define BLOCK 256u  // work-items per work-group; a power of two
#define TILE (2 * BLOCK)  // records per work-group

__kernel __attribute__((reqd_work_group_size(BLOCK, 1, 1)))
void reduce_first_add(__global const uint4* restrict in, __global uint4* restrict out, ulong n) {
  __local uint4 part[BLOCK];

  const uint tid = get_local_id(0);
  const size_t i = (size_t)get_group_id(0) * TILE + tid;  // the second record is BLOCK further on
  // load two records per work-item, coalesced; the first addition is in registers
  const uint4 first = i < n ? in[i] : (uint4)(0);
  const uint4 second = i + BLOCK < n ? in[i + BLOCK] : (uint4)(0);
  const uint4 mine = first + second;

  // --- shared-memory section ---
  // store to local memory
  part[tid] = mine;
  barrier(CLK_LOCAL_MEM_FENCE);
  // tree in local memory, sequential addressing: no bank conflicts
  for (uint stride = BLOCK / 2; stride > 0; stride /= 2) {
    if (tid < stride) {
      part[tid] += part[tid + stride];
    }
    barrier(CLK_LOCAL_MEM_FENCE);  // outside the branch: every work-item must arrive
  }
  // --- end of section ---

  // work-item 0 stores the work-group's partial sum
  if (tid == 0) out[get_group_id(0)] = part[0];
}
