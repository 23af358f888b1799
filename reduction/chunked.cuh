// SPDX-License-Identifier: MIT-0
//
// Sums of uint4 records, component-wise, modulo 2^32, as a CPU likes it best: every thread sums one stretch of memory
// from front to back, by itself. See chunked.cl. On a GPU it is here to be looked at beside streaming.cuh, not to be
// used.
//
//   lanes  One in a block. 31 of a warp's 32 do not exist, and neighbouring threads read addresses far from each other,
//          so no two of them share a transaction with memory.
//   banks  None: no shared memory.
//
// Contract
//   launch  any number of blocks of exactly one thread, one-dimensional
//   in      n records, 16-byte aligned; not read when n is 0
//   out     one record per block: the sum of its stretch of ceil(n / blocks) records, as far as n reaches
//   n       any, including 0, which gives zero records
// For the sum of everything reduce `out` again with one block, into other memory.

__global__ void __launch_bounds__(1) reduce_chunked(const uint4* __restrict__ in, uint4* __restrict__ out, size_t n) {
  constexpr unsigned WIDTH = 8;  // records at once, each with a sum of its own
  const auto add = [](uint4 a, uint4 b) { return make_uint4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w); };

  const size_t chunk = n / gridDim.x + (n % gridDim.x != 0);
  size_t i = blockIdx.x * chunk;
  const size_t end = n < i + chunk ? n : i + chunk;

  uint4 sums[WIDTH] = {};
  for (; i + WIDTH <= end; i += WIDTH) {
#pragma unroll
    for (unsigned k = 0; k < WIDTH; ++k) sums[k] = add(sums[k], in[i + k]);
  }
  uint4 sum = sums[0];
#pragma unroll
  for (unsigned k = 1; k < WIDTH; ++k) sum = add(sum, sums[k]);
  for (; i < end; ++i) sum = add(sum, in[i]);

  out[blockIdx.x] = sum;
}
