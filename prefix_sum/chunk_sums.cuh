// SPDX-License-Identifier: MIT-0
//
// Reduce-then-scan for CPUs, first launch (chunked.cuh is the second): the sum of each block's chunk of consecutive
// words, modulo 2^32.
//
//   lanes  One thread per block, as in chunked.cuh.
//   banks  No shared memory.
//
// Contract
//   launch  any number of blocks of exactly one thread, one-dimensional: as many as for chunked.cuh
//   in      n words; not read when n is 0
//   sums    one word per block: the sum of its chunk (see `chunk`)
//   n       any, including 0, which gives zeros

__global__ void __launch_bounds__(1)
    scan_chunk_sums(const unsigned* __restrict__ in, unsigned* __restrict__ sums, size_t n) {
  constexpr unsigned WIDTH = 16;  // words per iteration, each added to its own partial sum

  // Words per block, a whole number of cache lines of a CPU. The last blocks may have fewer.
  const size_t chunk = (n / gridDim.x / 16 + 1) * 16;
  size_t i = blockIdx.x * chunk;
  const size_t end = n < i + chunk ? n : i + chunk;

  // add up WIDTH words per iteration, in independent accumulators
  unsigned part[WIDTH] = {};
  for (; i + WIDTH <= end; i += WIDTH) {
#pragma unroll
    for (unsigned k = 0; k < WIDTH; ++k) part[k] += in[i + k];
  }

  // add the partial sums and the remaining words
  unsigned sum = 0;
#pragma unroll
  for (unsigned k = 0; k < WIDTH; ++k) sum += part[k];
  for (; i < end; ++i) sum += in[i];

  sums[blockIdx.x] = sum;
}
