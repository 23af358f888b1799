// SPDX-License-Identifier: MIT-0
//
// Sum of each tile of BLOCK uint4 records, component-wise, modulo 2^32: the tree of modulo.cuh with its work packed.
//
//   lanes  Busy threads follow each other: thread k takes what thread 2 * stride * k did. Whole warps fall idle.
//   banks  They still add the same records, now from the lanes of one quarter-warp: thread k is at word 8 * stride * k.
//          Of 8 lanes, 2 meet in each bank at stride 1, 4 at stride 2, 8 from stride 4 on. So every step takes the
//          passes that it took in modulo.cuh, 414 in all: divergence has become bank conflicts.
//          sequential.cuh has neither.
//
// Contract
//   launch  max(1, ceil(n / BLOCK)) blocks of exactly BLOCK threads, one-dimensional
//   in      n records, 16-byte aligned; not read when n is 0
//   out     one record per block: the sum of in[block * BLOCK .. block * BLOCK + BLOCK), as far as n reaches
//   n       any, including 0, which gives one zero record
// For the sum of everything reduce `out` again, into other memory, until one record is left.

__global__ void __launch_bounds__(256)
    reduce_interleaved(const uint4* __restrict__ in, uint4* __restrict__ out, size_t n) {
  constexpr unsigned BLOCK = 256;  // threads per block, records per tile; a power of two
  __shared__ uint4 part[BLOCK];

  const unsigned tid = threadIdx.x;
  const size_t i = size_t(blockIdx.x) * BLOCK + tid;
  const uint4 mine = i < n ? in[i] : make_uint4(0, 0, 0, 0);

  // --- shared-memory section ---
  part[tid] = mine;
  __syncthreads();
  for (unsigned stride = 1; stride < BLOCK; stride *= 2) {
    const unsigned left = 2 * stride * tid;
    if (left < BLOCK) {
      const uint4 a = part[left];
      const uint4 b = part[left + stride];
      part[left] = make_uint4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
    }
    __syncthreads();  // outside the branch: every thread must arrive
  }
  // --- end of section ---

  if (tid == 0) out[blockIdx.x] = part[0];
}
