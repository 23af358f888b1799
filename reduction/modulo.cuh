// SPDX-License-Identifier: MIT-0
//
// Parallel reduction, interleaved addressing with a modulo test and divergent branches: Harris 2007, "Optimizing
// Parallel Reduction in CUDA", kernel 1. Sums each tile of BLOCK uint4 records, component-wise, modulo 2^32.
//
//   lanes  In each step every second of the remaining threads adds its neighbour's partial sum. The active threads lie
//          further and further apart, so up to stride 16 all 8 warps issue, at stride 16 for one active lane each: ALU
//          utilization is 50, 25, 12.5 % and less. The modulo test is an integer division per thread unless the
//          compiler replaces it.
//   banks  Thread t accesses words 4t .. 4t + 3, as in sequential.cuh, so no two lanes of a quarter-warp share a bank.
//          But a quarter-warp with one active lane takes a whole pass, as with eight active lanes: 414 passes (NVIDIA:
//          wavefronts) per block, where sequential.cuh takes 135. (If every second lane of a load is inactive, NVIDIA's
//          hardware merges pairs of quarter-warps. Here two lanes of each merged pair share a bank, so the pair takes
//          two passes after all: 96 of the 414 passes count as conflicts.)
//
// Contract
//   launch  max(1, ceil(n / BLOCK)) blocks of exactly BLOCK threads, one-dimensional
//   in      n records, 16-byte aligned; not read when n is 0
//   out     one record per block: the sum of in[b * BLOCK .. min((b + 1) * BLOCK, n)) for block b
//   n       any, including 0, which gives one record of zeros
// To sum all n records, launch the kernel again on `out`, into another buffer, until one record is left.

__global__ void __launch_bounds__(256) reduce_modulo(const uint4* __restrict__ in, uint4* __restrict__ out, size_t n) {
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
  // tree in shared memory, interleaved addressing: divergent
  for (unsigned stride = 1; stride < BLOCK; stride *= 2) {
    if (tid % (2 * stride) == 0) {
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
