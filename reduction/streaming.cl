// SPDX-License-Identifier: MIT-0
//
// Sums of uint4 records, component-wise, modulo 2^32, by groups that stay: as many as the GPU holds at once, each with
// many records a work-item. What is left of the tree no longer matters; what matters is how many bytes are under way.
//
//   lanes  Each work-item issues LOADS loads of 16 bytes before it needs the first, and again until the records are
//          used up. A load behind the end is left out by a predicate, so few records are one such round, too. Then once
//          for each group: the sum of its work-items, as in shuffle.cl by shuffles on NVIDIA's GPUs, by a tree
//          elsewhere.
//   banks  16 sums stored by one lane each, read by 16 lanes at words 4t .. 4t + 3: no conflict, 18 passes in all,
//          after as many records as you like. The tree has no conflict either, as in sequential.cl.
//
// Contract
//   launch  any number of groups of exactly BLOCK work-items, one-dimensional: two for each compute unit, but no more
//           than ceil(n / BLOCK), and one at least
//   in      n records, 16-byte aligned; not read when n is 0
//   out     one record per group; together they are the sum of all. Group g sums what lies at g * BLOCK .. g * BLOCK +
//           BLOCK and at the same place after every further get_num_groups(0) * BLOCK records
//   n       any, including 0, which gives zero records
// For the sum of everything reduce `out` again with one group, into other memory.

#ifndef BLOCK
#define BLOCK 512u  // work-items per group; a power of two, from 32 to 1024
#endif
#define LOADS 8u  // of 16 bytes, under way for each work-item

#ifdef __NV_CL_C_VERSION
#define WARP 32u
#define PARTS (BLOCK / WARP)

// The word of the lane that is so many further on.
uint shuffle_down(uint word, uint lanes) {
  uint theirs;
  asm volatile("shfl.sync.down.b32 %0, %1, %2, 0x1f, 0xffffffff;" : "=r"(theirs) : "r"(word), "r"(lanes));
  return theirs;
}

// The sum of a warp, in its lane 0. All its lanes must call.
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
  for (size_t i = get_group_id(0) * BLOCK + tid; i < n; i += LOADS * step) {
    uint4 record[LOADS];
#pragma unroll
    for (uint k = 0; k < LOADS; ++k) {  // all loads before the first sum: none waits for another
      record[k] = i + k * step < n ? in[i + k * step] : (uint4)(0);
    }
#pragma unroll
    for (uint k = 0; k < LOADS; ++k) mine += record[k];
  }
  uint4 sum = (uint4)(0);

  // --- shared-memory section ---
#ifdef __NV_CL_C_VERSION
  sum = warp_sum(mine);
  if (tid % WARP == 0) part[tid / WARP] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (tid < WARP) sum = warp_sum(tid < PARTS ? part[tid] : (uint4)(0));
#else
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

  if (tid == 0) out[get_group_id(0)] = sum;
}
