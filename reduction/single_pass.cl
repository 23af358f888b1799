// SPDX-License-Identifier: MIT-0
//
// The sum of n uint4 records, component-wise, modulo 2^32, in one launch: streaming.cl, whose groups add their sums by
// atomics, and the last of which to finish hands out the result.
//
//   lanes  As in streaming.cl. Then work-item 0 of each group adds four words to `state` and counts its group.
//          Additions modulo 2^32 may come in any order; the fence between sum and count makes sure that whoever sees
//          the last count sees every sum. No group waits for another, so it does not matter which of them run at the
//          same time.
//   banks  As in streaming.cl: no conflict.
//
// Contract
//   launch  any number of groups of exactly BLOCK work-items, one-dimensional: two for each compute unit, but no more
//           than ceil(n / BLOCK), and one at least
//   in      n records, 16-byte aligned; not read when n is 0
//   out     one record: the sum of all
//   state   5 words that are zero; they are zero again when the kernel ends. One launch at a time may use them
//   n       any, including 0, which gives a zero record
//   fence   OpenCL 1.2 has none between groups. On NVIDIA's GPUs this kernel takes PTX's. Elsewhere it relies on
//           atomics of one work-item taking place in their order around mem_fence(), which no standard promises;
//           streaming.cl needs no such thing.

#ifndef BLOCK
#define BLOCK 512u  // work-items per group; a power of two, from 32 to 1024
#endif
#define LOADS 8u  // of 16 bytes, under way for each work-item
#define COUNT 4   // word of the state that counts finished groups, after the four of the sum

#ifdef __NV_CL_C_VERSION
#define WARP 32u
#define PARTS (BLOCK / WARP)
#define DEVICE_FENCE() asm volatile("membar.gl;" : : : "memory")  // NVIDIA's mem_fence() is for a group alone

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
#define DEVICE_FENCE() mem_fence(CLK_GLOBAL_MEM_FENCE)
#endif

__kernel __attribute__((reqd_work_group_size(BLOCK, 1, 1)))
void reduce_single_pass(__global const uint4* restrict in, __global uint4* restrict out, volatile __global uint* state,
                        ulong n) {
  __local uint4 part[PARTS];

  const uint lane = get_local_id(0);
  const size_t step = get_num_groups(0) * BLOCK;
  uint4 mine = (uint4)(0);
  for (size_t i = get_group_id(0) * BLOCK + lane; i < n; i += LOADS * step) {
    uint4 record[LOADS];
#pragma unroll
    for (uint k = 0; k < LOADS; ++k) {  // all loads before the first sum: none waits for another
      record[k] = i + k * step < n ? in[i + k * step] : (uint4)(0);
    }
#pragma unroll
    for (uint k = 0; k < LOADS; ++k) mine += record[k];
  }

  uint4 sum = (uint4)(0);
#ifdef __NV_CL_C_VERSION
  sum = warp_sum(mine);
  if (lane % WARP == 0) part[lane / WARP] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (lane < WARP) sum = warp_sum(lane < PARTS ? part[lane] : (uint4)(0));
#else
  part[lane] = mine;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint stride = BLOCK / 2; stride > 0; stride /= 2) {
    if (lane < stride) {
      part[lane] += part[lane + stride];
    }
    barrier(CLK_LOCAL_MEM_FENCE);  // outside the branch: every lane must arrive
  }
  if (lane == 0) sum = part[0];
#endif

  if (lane == 0) {
    atomic_add(&state[0], sum.x);
    atomic_add(&state[1], sum.y);
    atomic_add(&state[2], sum.z);
    atomic_add(&state[3], sum.w);
    DEVICE_FENCE();  // the sum before the count
    if (atomic_add(&state[COUNT], 1) == get_num_groups(0) - 1) {
      DEVICE_FENCE();  // the count before the sums
      // Read by atomics, too: those look where the additions took place, and leave zeros for the next launch.
      *out = (uint4)(atomic_xchg(&state[0], 0), atomic_xchg(&state[1], 0), atomic_xchg(&state[2], 0),
                     atomic_xchg(&state[3], 0));
      atomic_xchg(&state[COUNT], 0);
    }
  }
}
