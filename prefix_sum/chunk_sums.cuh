// SPDX-License-Identifier: MIT-0
//
// The first step of chunked.cuh: the sum of each block's stretch of words, modulo 2^32.
//
//   lanes  One in a block, as in chunked.cuh.
//   banks  No shared memory.
//
// Contract
//   launch  any number of blocks of exactly one thread, one-dimensional: as many as of chunked.cuh
//   in      n words; not read when n is 0
//   sums    one word per block: the sum of its stretch (see chunk)
//   n       any, including 0, which gives zeros

__global__ void __launch_bounds__(1)
    scan_chunk_sums(const unsigned* __restrict__ in, unsigned* __restrict__ sums, size_t n) {
  constexpr unsigned WIDTH = 16;  // words at once, each with a sum of its own

  // Words of each block's stretch, but for the last ones: the same number for each, and in whole lines of a CPU's
  // cache.
  const size_t chunk = (n / gridDim.x / 16 + 1) * 16;
  size_t i = blockIdx.x * chunk;
  const size_t end = n < i + chunk ? n : i + chunk;

  unsigned part[WIDTH] = {};
  for (; i + WIDTH <= end; i += WIDTH) {
#pragma unroll
    for (unsigned k = 0; k < WIDTH; ++k) part[k] += in[i + k];
  }
  unsigned sum = 0;
#pragma unroll
  for (unsigned k = 0; k < WIDTH; ++k) sum += part[k];
  for (; i < end; ++i) sum += in[i];

  sums[blockIdx.x] = sum;
}
