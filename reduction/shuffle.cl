// SPDX-License-Identifier: MIT-0
//
// Sum of each tile of 2 * BLOCK uint4 records, component-wise, modulo 2^32: first_add.cl with warps that add by
// shuffles.
//
//   lanes  A warp's lanes hand each other registers, in five steps without a barrier or local memory. One sum a warp
//          remains; the first warp adds those in the same way. One barrier instead of nine.
//          OpenCL 1.2 has no shuffles, and NVIDIA's no sub-groups; but it takes PTX. Elsewhere nobody promises how many
//          work-items run in lock-step, and the tree of first_add.cl is what is left.
//   banks  The 8 sums are stored by one lane each and read by 8 lanes at once, words 4t .. 4t + 3: no conflict, and
//          9 passes instead of 135. (A shuffle takes a turn of its own, without banks: 4 words, 5 steps, 9 times.)
//
// Contract
//   launch  max(1, ceil(n / TILE)) groups of exactly BLOCK work-items, one-dimensional
//   in      n records, 16-byte aligned; not read when n is 0
//   out     one record per group: the sum of in[group * TILE .. group * TILE + TILE), as far as n reaches
//   n       any, including 0, which gives one zero record
// For the sum of everything reduce `out` again, into other memory, until one record is left.

#ifndef BLOCK
#define BLOCK 256u  // work-items per group; a power of two, from 32 to 1024
#endif
#define TILE (2 * BLOCK)  // records per group

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
void reduce_shuffle(__global const uint4* restrict in, __global uint4* restrict out, ulong n) {
  __local uint4 part[PARTS];

  const uint tid = get_local_id(0);
  const size_t i = (size_t)get_group_id(0) * TILE + tid;
  const uint4 first = i < n ? in[i] : (uint4)(0);
  const uint4 second = i + BLOCK < n ? in[i + BLOCK] : (uint4)(0);
  const uint4 mine = first + second;
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
