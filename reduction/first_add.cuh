// SPDX-License-Identifier: MIT-0
//
// Sum of each tile of 2 * BLOCK uint4 records, component-wise, modulo 2^32: the tree of sequential.cuh after a first
// addition.
//
//   lanes  In sequential.cuh half of the threads load a record, store it, and never add anything. Here each loads
//          two records, which are under way at the same time, and adds them in registers: half as many blocks, and half
//          as much tree for each record.
//   banks  As in sequential.cuh: no conflict, 135 passes; for 512 records instead of 256.
//
// Contract
//   launch  max(1, ceil(n / TILE)) blocks of exactly BLOCK threads, one-dimensional
//   in      n records, 16-byte aligned; not read when n is 0
//   out     one record per block: the sum of in[block * TILE .. block * TILE + TILE), as far as n reaches
//   n       any, including 0, which gives one zero record
// For the sum of everything reduce `out` again, into other memory, until one record is left.

__global__ void __launch_bounds__(256)
    reduce_first_add(const uint4* __restrict__ in, uint4* __restrict__ out, size_t n) {
  constexpr unsigned BLOCK = 256;       // threads per block; a power of two
  constexpr unsigned TILE = 2 * BLOCK;  // records per block
  __shared__ uint4 part[BLOCK];

  const unsigned tid = threadIdx.x;
  const size_t i = size_t(blockIdx.x) * TILE + tid;  // and BLOCK further on: a warp's loads stay side by side
  const uint4 first = i < n ? in[i] : make_uint4(0, 0, 0, 0);
  const uint4 second = i + BLOCK < n ? in[i + BLOCK] : make_uint4(0, 0, 0, 0);
  const uint4 mine = make_uint4(first.x + second.x, first.y + second.y, first.z + second.z, first.w + second.w);

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
