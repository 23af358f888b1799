// SPDX-License-Identifier: MIT-0
//
// Transposes a matrix of 32-bit words straight from memory to memory: the case that needs a tile.
//
//   lanes  All busy, but for tiles that hang over the edge.
//   banks  No shared memory. The reads of a warp lie in two rows of 16 words; the writes are two words in each of
//          16 rows of `out`, and each pair moves 32 bytes or more of memory for its 8.
//
// Contract
//   launch  ceil(height / TILE) * ceil(width / TILE) blocks of TILE x TILE threads, row of tiles after row of tiles
//   in      height x width words, row after row
//   out     width x height words, row after row: out[x][y] = in[y][x]; must not overlap `in`
//   height, width  any; no blocks at all where one of them is 0

__global__ void __launch_bounds__(16 * 16)
    transpose_global(const unsigned* __restrict__ in, unsigned* __restrict__ out, size_t height, size_t width) {
  constexpr unsigned TILE = 16;  // words along each side of a tile

  const unsigned x = threadIdx.x, y = threadIdx.y;
  const unsigned tiles_across = unsigned((width + TILE - 1) / TILE);
  const size_t top = size_t(blockIdx.x / tiles_across) * TILE;
  const size_t left = size_t(blockIdx.x % tiles_across) * TILE;

  const size_t row = top + y, column = left + x;
  if (row < height && column < width) out[column * height + row] = in[row * width + column];
}
