// SPDX-License-Identifier: MIT-0
//
// The sum of n uint4 records, component-wise, modulo 2^32, in one launch: streaming.cl, whose groups add their sums by
// atomics; the last of them at each of the four components hands it out.
//
//   lanes  As in streaming.cl. Then four work-items of each group add a component each to a word of `state`. Its upper
//          16 bits count the groups, its lower 48 add up what these bring: both in one addition, so that nobody can see
//          the one without the other, and no fence is needed, which OpenCL 1.2 would not have between groups. Who finds
//          that all others have been there knows the sum. No group waits for another, so it does not matter which of
//          them run at the same time.
//   banks  As in streaming.cl: no conflict.
//
// Contract
//   launch  up to 65535 groups of exactly BLOCK work-items, one-dimensional: two for each compute unit, but no more
//           than ceil(n / BLOCK), and one at least
//   in      n records, 16-byte aligned; not read when n is 0
//   out     one record: the sum of all
//   state   4 words of 8 bytes, 8-byte aligned, zero; they are zero again when the kernel ends, unless it was aborted.
//           One launch at a time may use them
//   n       any, including 0, which gives a zero record
//   device  with atomics of 64 bits (cl_khr_int64_base_atomics)

#ifndef cl_khr_int64_base_atomics
#error "this device has no atomic operations of 64 bits"
#endif
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable

#ifndef BLOCK
#define BLOCK 512u  // work-items per group; a power of two, from 32 to 1024
#endif
#define LOADS 8u  // of 16 bytes, under way for each work-item
#define COUNT 48  // bit of a word of the state where the number of groups begins

#ifdef __NV_CL_C_VERSION
#define WARP 32u
#define PARTS (BLOCK / WARP)

// The word of the lane whose number differs in these bits.
uint shuffle_xor(uint word, uint bits) {
  uint theirs;
  asm volatile("shfl.sync.bfly.b32 %0, %1, %2, 0x1f, 0xffffffff;" : "=r"(theirs) : "r"(word), "r"(bits));
  return theirs;
}

// The sum of a warp, in each of its lanes. All must call.
uint4 warp_sum(uint4 sum) {
  for (uint bit = WARP / 2; bit > 0; bit /= 2) {
    sum.x += shuffle_xor(sum.x, bit);
    sum.y += shuffle_xor(sum.y, bit);
    sum.z += shuffle_xor(sum.z, bit);
    sum.w += shuffle_xor(sum.w, bit);
  }
  return sum;
}
#else
#define PARTS BLOCK
#endif

__kernel __attribute__((reqd_work_group_size(BLOCK, 1, 1)))
void reduce_single_pass(__global const uint4* restrict in, __global uint4* restrict out, volatile __global ulong* state,
                        ulong n) {
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
  if (tid < 4) sum = part[0];
#endif

  if (tid < 4) {
    const uint component = tid == 0 ? sum.x : tid == 1 ? sum.y : tid == 2 ? sum.z : sum.w;
    const ulong before = atom_add(&state[tid], (ulong)1 << COUNT | component);
    if (before >> COUNT == get_num_groups(0) - 1) {  // nobody comes after
      ((__global uint*)out)[tid] = (uint)before + component;
      atom_xchg(&state[tid], 0);  // for the next launch
    }
  }
}
