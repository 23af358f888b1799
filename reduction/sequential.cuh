// SPDX-License-Identifier: MIT-0
//
// Sum of each tile of BLOCK uint4 records, component-wise, modulo 2^32: a tree over 16-byte records.
//
//   lanes  Step by step the first half adds the second half to itself. Busy lanes stay packed, so whole warps
//          fall idle; the last five steps leave one warp, ever emptier. (An idle warp may still issue: nvcc 13.0
//          predicates this short branch. README.md has the measured cost.)
//   banks  Thread t reads words 4t .. 4t + 3. NVIDIA since Volta serves a 16-byte access a quarter-warp at a time:
//          8 lanes x 4 words cover the 32 banks once, no conflict. Hardware that splits the access into words
//          meets stride 4, four lanes in a bank: naive.cuh shows that case, packed.cuh its cure.
//
// Contract
//   launch  max(1, ceil(n / BLOCK)) blocks of exactly BLOCK threads, one-dimensional
//   in      n records, 16-byte aligned; not read when n is 0
//   out     one record per block: the sum of in[block * BLOCK .. block * BLOCK + BLOCK), as far as n reaches
//   n       any, including 0, which gives one zero record
// For the sum of everything reduce `out` again, into other memory, until one record is left.

__global__ void __launch_bounds__(256)
    reduce_sequential(const uint4* __restrict__ in, uint4* __restrict__ out, size_t n) {
  constexpr unsigned BLOCK = 256;  // threads per block, records per tile; a power of two
  __shared__ uint4 part[BLOCK];

  const unsigned tid = threadIdx.x;
  const size_t i = size_t(blockIdx.x) * BLOCK + tid;
  const uint4 mine = i < n ? in[i] : make_uint4(0, 0, 0, 0);

  // --- shared-memory section ---
  part[tid] = mine;
  __syncthreads();
  for (unsigned stride = BLOCK / 2; stride > 0; stride /= 2) {
    if (tid < stride) {
      const uint4 a = part[tid];
      const uint4 b = part[tid + stride];
      part[tid] = make_uint4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
    }
    __syncthreads();  // outside the branch: every thread must arrive
  }
  // --- end of section ---

  if (tid == 0) out[blockIdx.x] = part[0];
}
