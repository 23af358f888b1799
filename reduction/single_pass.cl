// SPDX-License-Identifier: MIT-0
//
// Single-pass parallel reduction in one launch: a grid-stride loop, and 64-bit atomics that add the work-groups' sums
// and detect the last work-group. (The CUDA sample threadFenceReduction detects the last block with a counter and a
// memory fence, and lets it add the blocks' sums.) Sums n uint4 records, component-wise, modulo 2^32.
//
// single_pass.cuh explains what it changes, its lanes and its banks. Count and sum share one word and are updated by a
// single atom_add, so the kernel needs no memory fence between work-groups, which OpenCL 1.2 does not have.
//
// Contract
//   launch  up to 65535 work-groups of exactly BLOCK work-items, one-dimensional: two per compute unit, but at most
//           ceil(n / BLOCK), and at least one
//   in      n records, 16-byte aligned; not read when n is 0
//   out     one record: the sum of all records
//   state   4 words of 8 bytes, 8-byte aligned, zero before the first launch; they are zero again when the kernel ends,
//           unless it was aborted. Only one launch at a time may use them
//   n       any, including 0, which gives a record of zeros
//   device  a device with 64-bit atomics (cl_khr_int64_base_atomics)

#ifndef cl_khr_int64_base_atomics
#error "this device has no atomic operations of 64 bits"
#endif
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable

#define BLOCK 512u  // work-items per work-group; a power of two, from 32 to 1024
#define LOADS 8u  // 16-byte loads in flight per work-item
#define COUNT 48  // lowest bit of the work-group count in a word of `state`

#ifdef __NV_CL_C_VERSION
#define WARP 32u
#define PARTS (BLOCK / WARP)

// Butterfly shuffle, as __shfl_xor_sync in CUDA: the word of lane (this lane ^ bits).
uint shuffle_xor(uint word, uint bits) {
  uint theirs;
  asm volatile("shfl.sync.bfly.b32 %0, %1, %2, 0x1f, 0xffffffff;" : "=r"(theirs) : "r"(word), "r"(bits));
  return theirs;
}

// Sum over a warp, returned in every lane. All lanes must call it.
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
  if (tid < 4) sum = part[0];
#endif

  // one atomic per component adds and counts this work-group's sum; the last work-group writes the result
  if (tid < 4) {
    const uint component = tid == 0 ? sum.x : tid == 1 ? sum.y : tid == 2 ? sum.z : sum.w;
    const ulong before = atom_add(&state[tid], (ulong)1 << COUNT | component);
    if (before >> COUNT == get_num_groups(0) - 1) {  // this work-group is the last
      ((__global uint*)out)[tid] = (uint)before + component;
      atom_xchg(&state[tid], 0);  // reset for the next launch
    }
  }
}
