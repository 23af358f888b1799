// SPDX-License-Identifier: MIT-0
//
// Matrix transpose without shared memory: coalesced loads, strided stores (the naive transpose of Ruetsch &
// Micikevicius 2009, "Optimizing Matrix Transpose in CUDA"). It shows why the other kernels use a tile.
//
//   lanes  All active, except in tiles that extend past the edge.
//   banks  No shared memory. A warp loads two rows of 16 words. It stores two words to each of 16 rows of `out`; each
//          pair uses 8 bytes of a 32-byte sector.
//
// Contract
//   launch  ceil(height / TILE) * ceil(width / TILE) blocks of TILE x TILE threads, tiles in row-major order
//   in      height x width words, row-major
//   out     width x height words, row-major: out[x][y] = in[y][x]; must not overlap `in`
//   height, width  any; launch no block if either is 0

__global__ void __launch_bounds__(16 * 16)
    transpose_global(const unsigned* __restrict__ in, unsigned* __restrict__ out, size_t height, size_t width) {
  constexpr unsigned TILE = 16;  // words along each side of a tile

  const unsigned x = threadIdx.x, y = threadIdx.y;
  const unsigned tiles_across = unsigned((width + TILE - 1) / TILE);
  const size_t top = size_t(blockIdx.x / tiles_across) * TILE;
  const size_t left = size_t(blockIdx.x % tiles_across) * TILE;

  // load a word, coalesced, and store it, strided by the height
  const size_t row = top + y, column = left + x;
  if (row < height && column < width) out[column * height + row] = in[row * width + column];
}
