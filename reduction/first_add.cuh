// SPDX-License-Identifier: MIT-0
//
// Parallel reduction, first addition during the global load: Harris 2007, "Optimizing Parallel Reduction in CUDA",
// kernel 4. Sums each tile of 2 * BLOCK uint4 records, component-wise, modulo 2^32.
//
// Changed against sequential.cuh: a block takes two tiles and adds one to the other before the tree.
//
//   lanes  In sequential.cuh half of the threads load a record, store it, and never add anything. Here each thread
//          loads two records, which are in flight simultaneously, and adds them in registers. Per record this takes
//          half as many blocks, barriers and passes.
//   banks  As in sequential.cuh: no conflict, 135 passes (NVIDIA: wavefronts), but for 512 records instead of 256.
//
// Contract
//   launch  max(1, ceil(n / TILE)) blocks of exactly BLOCK threads, one-dimensional
//   in      n records, 16-byte aligned; not read when n is 0
//   out     one record per block: the sum of in[b * TILE .. min((b + 1) * TILE, n)) for block b
//   n       any, including 0, which gives one record of zeros
// To sum all n records, launch the kernel again on `out`, into another buffer, until one record is left.

__global__ void __launch_bounds__(256)
    reduce_first_add(const uint4* __restrict__ in, uint4* __restrict__ out, size_t n) {
  constexpr unsigned BLOCK = 256;       // threads per block; a power of two
  constexpr unsigned TILE = 2 * BLOCK;  // records per block
  __shared__ uint4 part[BLOCK];

  const unsigned tid = threadIdx.x;
  const size_t i = size_t(blockIdx.x) * TILE + tid;  // the second record is BLOCK further on
  // load two records per thread, coalesced; the first addition is in registers
  const uint4 first = i < n ? in[i] : make_uint4(0, 0, 0, 0);
  const uint4 second = i + BLOCK < n ? in[i + BLOCK] : make_uint4(0, 0, 0, 0);
  const uint4 mine = make_uint4(first.x + second.x, first.y + second.y, first.z + second.z, first.w + second.w);

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
