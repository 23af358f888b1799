// SPDX-License-Identifier: MIT-0
//
// Parallel reduction for CPUs, as a CUDA kernel: every thread sums one contiguous chunk sequentially (see chunked.cl).
// Sums uint4 records, component-wise, modulo 2^32. On a GPU use streaming.cuh; this kernel exists for comparison.
//
// Changed against streaming.cuh: one thread per block, no shared memory.
//
//   lanes  One thread per block, so one of a warp's 32 lanes is active. Neighbouring threads read addresses far from
//          each other, so no loads are coalesced.
//   banks  None: no shared memory.
//
// Contract
//   launch  any number of blocks of exactly one thread, one-dimensional
//   in      n records, 16-byte aligned; not read when n is 0
//   out     one record per block: the sum of its chunk of ceil(n / blocks) records, clipped to n
//   n       any, including 0, which gives records of zeros
// To sum all n records, launch the kernel again on `out` with one block, into another buffer.

__global__ void __launch_bounds__(1) reduce_chunked(const uint4* __restrict__ in, uint4* __restrict__ out, size_t n) {
  constexpr unsigned WIDTH = 8;  // independent sums, one record each per iteration
  const auto add = [](uint4 a, uint4 b) { return make_uint4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w); };

  // this thread's chunk
  const size_t chunk = n / gridDim.x + (n % gridDim.x != 0);
  size_t i = blockIdx.x * chunk;
  const size_t end = n < i + chunk ? n : i + chunk;

  // WIDTH independent sums hide the latency of the additions
  uint4 sums[WIDTH] = {};
  for (; i + WIDTH <= end; i += WIDTH) {
#pragma unroll
    for (unsigned k = 0; k < WIDTH; ++k) sums[k] = add(sums[k], in[i + k]);
  }
  // add the sums, and the rest of the chunk
  uint4 sum = sums[0];
#pragma unroll
  for (unsigned k = 1; k < WIDTH; ++k) sum = add(sum, sums[k]);
  for (; i < end; ++i) sum = add(sum, in[i]);

  out[blockIdx.x] = sum;
}
