// SPDX-License-Identifier: MIT-0
//
// A histogram of weighted samples: each adds its weight to its bin, modulo 2^32.
//
//   lanes  A thread takes every BLOCK-th sample.
//   banks  Where a bin lies is decided by the sample. Lanes that add to one word have to wait for each other: unlike
//          ones, weights cannot be counted.
//
// Contract
//   launch  any number of blocks of BLOCK threads, one-dimensional
//   in      SLICE words per block: bin + BINS * weight
//   out     BINS words per block: the sum of each bin's weights

__global__ void __launch_bounds__(256)
    more_histogram_weighted(const unsigned* __restrict__ in, unsigned* __restrict__ out) {
  constexpr unsigned BLOCK = 256;   // threads
  constexpr unsigned SLICE = 4096;  // samples per block
  constexpr unsigned BINS = 1024;
  __shared__ unsigned bins[BINS];

  const unsigned tid = threadIdx.x;
  const unsigned* samples = in + size_t(blockIdx.x) * SLICE;
  unsigned* sums = out + size_t(blockIdx.x) * BINS;

  for (unsigned bin = 0; bin < BINS; bin += BLOCK) bins[bin + tid] = 0;
  __syncthreads();
  for (unsigned i = 0; i < SLICE; i += BLOCK) {
    const unsigned sample = samples[i + tid];
    atomicAdd(&bins[sample % BINS], sample / BINS);
  }
  __syncthreads();
  for (unsigned bin = 0; bin < BINS; bin += BLOCK) sums[bin + tid] = bins[bin + tid];
}
