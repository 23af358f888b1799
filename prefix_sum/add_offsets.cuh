// SPDX-License-Identifier: MIT-0
//
// Uniform add, the last step of a scan of many tiles (Harris, Sengupta & Owens, GPU Gems 3, ch. 39): adds to every word
// of a tile the sum of all tiles before it, modulo 2^32. add_offsets_wide is for larger tiles, with 16-byte accesses.
//
// Kernels: add_offsets, add_offsets_wide
//
//   lanes  All active, except past the end of the last tile.
//   banks  No shared memory.
//
// Contract
//   launch   ceil(n / TILE) blocks of exactly BLOCK threads, one-dimensional
//   data     n words, changed in place; for add_offsets_wide 16-byte aligned
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

__global__ void __launch_bounds__(256)
    scan_add_offsets_wide(unsigned* __restrict__ data, const unsigned* __restrict__ offsets, size_t n) {
  constexpr unsigned BLOCK = 256;             // threads per block
  constexpr unsigned ROWS = 2;                // 16-byte accesses per thread
  constexpr unsigned TILE_ROW = 4 * BLOCK;    // words per block and row
  constexpr unsigned TILE = ROWS * TILE_ROW;  // words per block, as in the kernel that scanned the tiles

  const size_t first = size_t(blockIdx.x) * TILE + 4 * threadIdx.x;
  const unsigned offset = offsets[blockIdx.x];
  if (first + (TILE_ROW + 3) < n) {
    // all words exist: two 16-byte accesses, coalesced
    uint4* const here = reinterpret_cast<uint4*>(data + first);
    uint4* const there = reinterpret_cast<uint4*>(data + first + TILE_ROW);
    const uint4 a = *here, b = *there;  // both loads in flight before the first use
    *here = make_uint4(a.x + offset, a.y + offset, a.z + offset, a.w + offset);
    *there = make_uint4(b.x + offset, b.y + offset, b.z + offset, b.w + offset);
  } else {
    // at the end of the data: word by word
    for (unsigned row = 0; row < ROWS; ++row) {
      for (unsigned k = 0; k < 4; ++k) {
        const size_t i = first + row * TILE_ROW + k;
        if (i < n) data[i] += offset;
      }
    }
  }
}
