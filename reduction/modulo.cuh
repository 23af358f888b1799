// SPDX-License-Identifier: MIT-0
//
// Sum of each tile of BLOCK uint4 records, component-wise, modulo 2^32: the tree as one first thinks of it.
//
//   lanes  Step by step every second of the threads that are left adds its neighbour's sum. The busy threads lie
//          further and further apart, so up to stride 16 every warp has work, in the end for one lane: 50, 25, 12.5 %
//          of ALUs in use. And the remainder decides lane by lane: an integer division, unless the compiler knows
//          better.
//   banks  Thread t reads words 4t .. 4t + 3, as in sequential.cuh, so no two lanes of a quarter-warp meet in a bank.
//          But a quarter with one busy lane takes a pass as one with eight does: 414 passes where sequential.cuh needs
//          135. (For a load whose every second lane idles NVIDIA's hardware joins quarters in pairs. There two lanes do
//          meet, which makes two passes again: 96 of the 414 count as conflicts.)
//
// Contract
//   launch  max(1, ceil(n / BLOCK)) blocks of exactly BLOCK threads, one-dimensional
//   in      n records, 16-byte aligned; not read when n is 0
//   out     one record per block: the sum of in[block * BLOCK .. block * BLOCK + BLOCK), as far as n reaches
//   n       any, including 0, which gives one zero record
// For the sum of everything reduce `out` again, into other memory, until one record is left.

__global__ void __launch_bounds__(256) reduce_modulo(const uint4* __restrict__ in, uint4* __restrict__ out, size_t n) {
  constexpr unsigned BLOCK = 256;  // threads per block, records per tile; a power of two
  __shared__ uint4 part[BLOCK];

  const unsigned tid = threadIdx.x;
  const size_t i = size_t(blockIdx.x) * BLOCK + tid;
  const uint4 mine = i < n ? in[i] : make_uint4(0, 0, 0, 0);

  // --- shared-memory section ---
  part[tid] = mine;
  __syncthreads();
  for (unsigned stride = 1; stride < BLOCK; stride *= 2) {
    if (tid % (2 * stride) == 0) {
      const uint4 a = part[tid];
      const uint4 b = part[tid + stride];
      part[tid] = make_uint4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
    }
    __syncthreads();  // outside the branch: every thread must arrive
  }
  // --- end of section ---

  if (tid == 0) out[blockIdx.x] = part[0];
}
