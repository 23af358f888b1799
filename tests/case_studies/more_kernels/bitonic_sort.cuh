// SPDX-License-Identifier: MIT-0
//
// Sorts tiles of TILE keys, ascending: a bitonic network in shared memory, one comparison per thread and step.
//
//   lanes  All compare; those whose keys are in the wrong order swap them, and that depends on the keys.
//   banks  Partners are `distance` apart. Below a distance of 32 the lanes of a warp skip as many words as they take:
//          2-way conflicts. From 32 on, none.
//
// Contract
//   launch  any number of blocks of BLOCK threads, one-dimensional
//   in      SLICE keys per block, of which the first TILES * TILE are sorted
//   out     TILES * TILE keys per block: each tile sorted by itself

__global__ void __launch_bounds__(256) more_bitonic_sort(const unsigned* __restrict__ in, unsigned* __restrict__ out) {
  constexpr unsigned BLOCK = 256;       // threads; a power of two
  constexpr unsigned TILE = 2 * BLOCK;  // keys that are sorted together
  constexpr unsigned TILES = 2;         // tiles per block, one after the other
  constexpr unsigned SLICE = 4096;      // words of input per block
  __shared__ unsigned keys[TILE];

  const unsigned tid = threadIdx.x;
  for (unsigned tile = 0; tile < TILES; ++tile) {
    const unsigned* from = in + size_t(blockIdx.x) * SLICE + tile * TILE;
    unsigned* to = out + size_t(blockIdx.x) * (TILES * TILE) + tile * TILE;
    keys[tid] = from[tid];
    keys[tid + BLOCK] = from[tid + BLOCK];

#pragma unroll 1  // the network has 45 steps
    for (unsigned sorted = 2; sorted <= TILE; sorted *= 2) {
#pragma unroll 1
      for (unsigned distance = sorted / 2; distance > 0; distance /= 2) {
        __syncthreads();
        const unsigned first = 2 * tid - tid % distance;  // a zero bit put in where the partners differ
        const unsigned second = first + distance;
        const bool ascending = (first & sorted) == 0;  // the last round: all of them
        const unsigned a = keys[first], b = keys[second];
        if ((a > b) == ascending) {
          keys[first] = b;
          keys[second] = a;
        }
      }
    }
    __syncthreads();
    to[tid] = keys[tid];
    to[tid + BLOCK] = keys[tid + BLOCK];  // each thread writes these two itself when it begins the next tile
  }
}
