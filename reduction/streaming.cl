// SPDX-License-Identifier: MIT-0
//
// Parallel reduction with a grid-stride loop and persistent work-groups, DRAM-bound: many records per work-item, as in
// Harris 2007, "Optimizing Parallel Reduction in CUDA", kernel 7. Sums uint4 records, component-wise, modulo 2^32; a
// second launch adds the work-groups' sums.
//
// streaming.cuh explains what it changes, its lanes and its banks. Once per work-group, the kernel adds the work-items'
// sums as in shuffle.cl: by shuffles on NVIDIA GPUs, by a tree elsewhere.
//
// Contract
//   launch  any number of work-groups of exactly BLOCK work-items, one-dimensional: two per compute unit, but at most
//           ceil(n / BLOCK), and at least one
//   in      n records, 16-byte aligned; not read when n is 0
//   out     one record per work-group; together they add up to the sum of all records. Work-group b sums the records
//           b * BLOCK .. b * BLOCK + BLOCK - 1, and that range shifted by every multiple of get_num_groups(0) * BLOCK
//   n       any, including 0, which gives records of zeros
// To sum all n records, launch the kernel again on `out` with one work-group, into another buffer.

#define BLOCK 512u  // work-items per work-group; a power of two, from 32 to 1024
#define LOADS 8u  // 16-byte loads in flight per work-item

#ifdef __NV_CL_C_VERSION
#define WARP 32u
#define PARTS (BLOCK / WARP)

// Shuffle, as __shfl_down_sync in CUDA: the word of lane (this lane + lanes).
uint shuffle_down(uint word, uint lanes) {
  uint theirs;
  asm volatile("shfl.sync.down.b32 %0, %1, %2, 0x1f, 0xffffffff;" : "=r"(theirs) : "r"(word), "r"(lanes));
  return theirs;
}

// Sum over a warp, returned in lane 0. All lanes must call it.
uint4 warp_sum(uint4 sum) {
  for (uint lanes = WARP / 2; lanes > 0; lanes /= 2) {
    sum.x += shuffle_down(sum.x, lanes);
    sum.y += shuffle_down(sum.y, lanes);
    sum.z += shuffle_down(sum.z, lanes);
    sum.w += shuffle_down(sum.w, lanes);
  }
  return sum;
}
#else
#define PARTS BLOCK
#endif

__kernel __attribute__((reqd_work_group_size(BLOCK, 1, 1)))
void reduce_streaming(__global const uint4* restrict in, __global uint4* restrict out, ulong n) {
  __local uint4 part[PARTS];

  const uint tid = get_local_id(0);
  const size_t step = get_num_groups(0) * BLOCK;
  uint4 mine = (uint4)(0);
  // grid-stride loop, coalesced
  for (size_t i = get_group_id(0) * BLOCK + tid; i < n; i += LOADS * step) {
    uint4 record[LOADS];
#pragma unroll
    for (uint k = 0; k < LOADS; ++k) {  // all loads are issued before the first addition
      record[k] = i + k * step < n ? in[i + k * step] : (uint4)(0);
    }
#pragma unroll
    for (uint k = 0; k < LOADS; ++k) mine += record[k];
  }
  uint4 sum = (uint4)(0);

  // --- shared-memory section ---
#ifdef __NV_CL_C_VERSION
  // warp sums by shuffles; lane 0 of each warp stores one
  sum = warp_sum(mine);
  if (tid % WARP == 0) part[tid / WARP] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  // the first warp adds the warps' sums
  if (tid < WARP) sum = warp_sum(tid < PARTS ? part[tid] : (uint4)(0));
#else
  // tree in local memory, sequential addressing: no bank conflicts
  part[tid] = mine;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint stride = BLOCK / 2; stride > 0; stride /= 2) {
    if (tid < stride) {
      part[tid] += part[tid + stride];
    }
    barrier(CLK_LOCAL_MEM_FENCE);  // outside the branch: every work-item must arrive
  }
  if (tid == 0) sum = part[0];
#endif
  // --- end of section ---

  // work-item 0 stores the work-group's partial sum
  if (tid == 0) out[get_group_id(0)] = sum;
}
