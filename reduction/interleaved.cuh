// SPDX-License-Identifier: MIT-0
//
// Parallel reduction, interleaved addressing with strided indices, which cause bank conflicts: Harris 2007, "Optimizing
// Parallel Reduction in CUDA", kernel 2. Sums each tile of BLOCK uint4 records, component-wise, modulo 2^32.
//
// Changed against modulo.cuh: the first threads of the block make the additions, so whole warps become idle; the
// records of a warp are strided, which causes bank conflicts.
//
//   lanes  Active threads are contiguous: thread k makes the addition that thread 2 * stride * k makes in modulo.cuh.
//          Whole warps become idle, and only the last warp diverges.
//   banks  The threads add the same records as in modulo.cuh, but records that were spread over several warps are now
//          accessed by one quarter-warp: the record of thread k starts at word 8 * stride * k. Each accessed bank is
//          shared by 2 of 8 lanes at stride 1, by 4 at stride 2, and by all 8 from stride 4 on. Every step takes as
//          many passes (NVIDIA: wavefronts) as in modulo.cuh, 414 in total: bank conflicts replace divergence.
//          sequential.cuh has neither.
//
// Contract
//   launch  max(1, ceil(n / BLOCK)) blocks of exactly BLOCK threads, one-dimensional
//   in      n records, 16-byte aligned; not read when n is 0
//   out     one record per block: the sum of in[b * BLOCK .. min((b + 1) * BLOCK, n)) for block b
//   n       any, including 0, which gives one record of zeros
// To sum all n records, launch the kernel again on `out`, into another buffer, until one record is left.

__global__ void __launch_bounds__(256)
    reduce_interleaved(const uint4* __restrict__ in, uint4* __restrict__ out, size_t n) {
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
  // tree in shared memory, interleaved addressing: strided, with bank conflicts
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

  // thread 0 stores the block's partial sum
  if (tid == 0) out[blockIdx.x] = part[0];
}
