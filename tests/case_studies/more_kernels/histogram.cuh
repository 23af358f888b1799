// SPDX-License-Identifier: MIT-0
//
// Histograms of the four channels of a block's pixels, counted in shared memory.
//
//   lanes  A thread takes every BLOCK-th pixel and counts each of its bytes.
//   banks  Where a count lies is decided by the pixel: lanes meet in a bank by chance, and in one word where the
//          picture is flat.
//
// Contract
//   launch  any number of blocks of BLOCK threads, one-dimensional
//   in      SLICE pixels per block, a byte for each channel, the lowest first
//   out     CHANNELS * BINS words per block: channel after channel, how many pixels have each value

__global__ void __launch_bounds__(256) more_histogram(const unsigned* __restrict__ in, unsigned* __restrict__ out) {
  constexpr unsigned BLOCK = 256;   // threads
  constexpr unsigned SLICE = 4096;  // pixels per block
  constexpr unsigned CHANNELS = 4;  // bytes of a pixel
  constexpr unsigned BINS = 256;    // values of a byte
  __shared__ unsigned bins[CHANNELS * BINS];

  const unsigned tid = threadIdx.x;
  const unsigned* pixels = in + size_t(blockIdx.x) * SLICE;
  unsigned* counts = out + size_t(blockIdx.x) * (CHANNELS * BINS);

  for (unsigned bin = 0; bin < CHANNELS * BINS; bin += BLOCK) bins[bin + tid] = 0;
  __syncthreads();
  for (unsigned i = 0; i < SLICE; i += BLOCK) {
    const unsigned pixel = pixels[i + tid];
#pragma unroll
    for (unsigned channel = 0; channel < CHANNELS; ++channel) {
      atomicAdd(&bins[channel * BINS + (pixel >> (8 * channel)) % BINS], 1u);
    }
  }
  __syncthreads();
  for (unsigned bin = 0; bin < CHANNELS * BINS; bin += BLOCK) counts[bin + tid] = bins[bin + tid];
}
