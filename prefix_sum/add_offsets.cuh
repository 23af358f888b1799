// SPDX-License-Identifier: MIT-0
//
// The last step of a scan in tiles: adds to every word of a tile what stands before that tile, modulo 2^32.
//
//   lanes  All busy, in the last tile as far as the words reach.
//   banks  No shared memory.
//
// Contract
//   launch   ceil(n / TILE) blocks of exactly BLOCK threads, one-dimensional
//   data     n words, changed in place
//   offsets  one word per block: the exclusive prefix sum of the tiles' totals
//   n        any, including 0 (with 0 or more blocks)

__global__ void __launch_bounds__(256)
    scan_add_offsets(unsigned* __restrict__ data, const unsigned* __restrict__ offsets, size_t n) {
  constexpr unsigned BLOCK = 256;       // threads per block
  constexpr unsigned TILE = 2 * BLOCK;  // words per block, as in the kernel that scanned the tiles

  const size_t i = size_t(blockIdx.x) * TILE + threadIdx.x;
  const unsigned offset = offsets[blockIdx.x];
  if (i < n) data[i] += offset;
  if (i + BLOCK < n) data[i + BLOCK] += offset;
}
