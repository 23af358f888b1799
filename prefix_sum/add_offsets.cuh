// SPDX-License-Identifier: MIT-0
//
// Uniform add, the last step of a scan of many tiles (Harris, Sengupta & Owens, GPU Gems 3, ch. 39): adds to every word
// of a tile the sum of all tiles before it, modulo 2^32.
//
//   lanes  All active, except past the end of the last tile.
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

  // add the tile's offset to two words per thread, coalesced
  if (i < n) data[i] += offset;
  if (i + BLOCK < n) data[i + BLOCK] += offset;
}
