// SPDX-License-Identifier: MIT-0
//
// Parallel reduction with warp shuffles (inline PTX on NVIDIA GPUs, a tree in local memory elsewhere): Luitjens 2014,
// "Faster Parallel Reductions on Kepler". Sums each tile of 2 * BLOCK uint4 records, component-wise, modulo 2^32,
// loaded as in first_add.cl.
//
// shuffle.cuh explains what it changes, its lanes and its banks. OpenCL 1.2 has no built-ins that move values between
// work-items (its shuffle() permutes the components of a vector), and NVIDIA's OpenCL has no sub-groups, but it accepts
// inline PTX. On other devices the number of work-items that run in lock-step is unspecified, so the kernel keeps the
// tree of first_add.cl.
//
// Contract
//   launch  max(1, ceil(n / TILE)) work-groups of exactly BLOCK work-items, one-dimensional
//   in      n records, 16-byte aligned; not read when n is 0
//   out     one record per work-group: the sum of in[b * TILE .. min((b + 1) * TILE, n)) for work-group b
//   n       any, including 0, which gives one record of zeros
// To sum all n records, launch the kernel again on `out`, into another buffer, until one record is left.

#define BLOCK 256u  // work-items per work-group; a power of two, from 32 to 1024
#define TILE (2 * BLOCK)  // records per work-group

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
void reduce_shuffle(__global const uint4* restrict in, __global uint4* restrict out, ulong n) {
  __local uint4 part[PARTS];

  const uint tid = get_local_id(0);
  const size_t i = (size_t)get_group_id(0) * TILE + tid;
  // load two records per work-item, coalesced; the first addition is in registers
  const uint4 first = i < n ? in[i] : (uint4)(0);
  const uint4 second = i + BLOCK < n ? in[i + BLOCK] : (uint4)(0);
  const uint4 mine = first + second;
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
