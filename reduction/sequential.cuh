// SPDX-License-Identifier: MIT-0
//
// Parallel reduction, sequential addressing, free of bank conflicts: Harris 2007, "Optimizing Parallel Reduction in
// CUDA", kernel 3. Sums each tile of BLOCK uint4 records, component-wise, modulo 2^32, with 16-byte accesses.
//
// Changed against interleaved.cuh: each lane adds the record that lies half a tile further on, so the records of a warp
// are consecutive.
//
//   lanes  In each step the first half of the active threads adds the second half's partial sums to its own. Active
//          threads stay contiguous, so whole warps become idle; the last five steps leave a single warp with fewer and
//          fewer active lanes. (An idle warp may still issue the accesses: nvcc 13.0 predicates this short branch.
//          README.md has the measured cost.)
//   banks  Thread t accesses words 4t .. 4t + 3. NVIDIA GPUs since Volta serve a 16-byte access one quarter-warp at a
//          time: 8 lanes x 4 words cover the 32 banks once, so there is no conflict, and a block takes 135 passes
//          (NVIDIA: wavefronts). If hardware splits the access into 32-bit words, their stride is 4, four lanes per
//          bank: naive.cuh shows this case, and packed.cuh fixes it.
//
// Contract
//   launch  max(1, ceil(n / BLOCK)) blocks of exactly BLOCK threads, one-dimensional
//   in      n records, 16-byte aligned; not read when n is 0
//   out     one record per block: the sum of in[b * BLOCK .. min((b + 1) * BLOCK, n)) for block b
//   n       any, including 0, which gives one record of zeros
// To sum all n records, launch the kernel again on `out`, into another buffer, until one record is left.

__global__ void __launch_bounds__(256)
    reduce_sequential(const uint4* __restrict__ in, uint4* __restrict__ out, size_t n) {
  constexpr unsigned BLOCK = 256;  // threads per block, records per tile; a power of two
  __shared__ uint4 part[BLOCK];

  const unsigned tid = threadIdx.x;
  const size_t i = size_t(blockIdx.x) * BLOCK + tid;
  // load one record per thread, coalesced; zero past the end
  const uint4 mine = i < n ? in[i] : make_uint4(0, 0, 0, 0);

  // --- shared-memory section ---
  // store to shared memory
  part[tid] = mine;
  __syncthreads();
  // tree in shared memory, sequential addressing: no bank conflicts
  for (unsigned stride = BLOCK / 2; stride > 0; stride /= 2) {
    if (tid < stride) {
      const uint4 a = part[tid];
      const uint4 b = part[tid + stride];
      part[tid] = make_uint4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
    }
    __syncthreads();  // outside the branch: every thread must arrive
  }
  // --- end of section ---

  // thread 0 stores the block's partial sum
  if (tid == 0) out[blockIdx.x] = part[0];
}
