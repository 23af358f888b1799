// SPDX-License-Identifier: MIT-0
//
// A one-dimensional stencil: weighted sums of 2 * RADIUS + 1 neighbours, modulo 2^32, from a tile with a halo.
//
//   lanes  Neighbours compute neighbours; the halo is loaded by the first threads alone.
//   banks  Every access is to 32 words next to each other, wherever it begins: no conflict.
//
// Contract
//   launch  any number of blocks of BLOCK threads, one-dimensional
//   in      SLICE words per block, of which the first TILE + 2 * RADIUS are read
//   out     TILE words per block: out[i] = sum over k of weights[k] * in[i + k], k = 0 .. 2 * RADIUS

__global__ void __launch_bounds__(256) more_stencil(const unsigned* __restrict__ in, unsigned* __restrict__ out) {
  constexpr unsigned BLOCK = 256;   // threads
  constexpr unsigned TILE = 1024;   // results per block
  constexpr unsigned RADIUS = 4;    // neighbours on each side
  constexpr unsigned SLICE = 4096;  // words of input per block

  constexpr unsigned weights[2 * RADIUS + 1] = {3, 5, 7, 11, 13, 17, 19, 23, 29};
  __shared__ unsigned tile[TILE + 2 * RADIUS];

  const unsigned tid = threadIdx.x;
  const unsigned* from = in + size_t(blockIdx.x) * SLICE;
  unsigned* to = out + size_t(blockIdx.x) * TILE;

  for (unsigned i = 0; i < TILE; i += BLOCK) tile[i + tid] = from[i + tid];
  if (tid < 2 * RADIUS) tile[TILE + tid] = from[TILE + tid];
  __syncthreads();
  for (unsigned i = 0; i < TILE; i += BLOCK) {
    unsigned sum = 0;
#pragma unroll
    for (unsigned k = 0; k <= 2 * RADIUS; ++k) sum += weights[k] * tile[i + tid + k];
    to[i + tid] = sum;
  }
}
