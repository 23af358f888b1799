// SPDX-License-Identifier: MIT-0
//
// Transposes a matrix of 32-bit words through a 16 x 16 tile in shared memory: rows in, columns out, so that memory
// is read and written along rows.
//
//   lanes  All busy, but for tiles that hang over the edge.
//   banks  A warp of 32 holds two rows of the tile. Written by rows, 32 words next to each other: no conflict.
//          Read by columns, word 16x + y: 16 lanes share two banks, so 8-way conflicts (16-way on 16 banks).
//
// Contract
//   launch  ceil(height / TILE) * ceil(width / TILE) blocks of TILE x TILE threads, row of tiles after row of tiles
//   in      height x width words, row after row
//   out     width x height words, row after row: out[x][y] = in[y][x]; must not overlap `in`
//   height, width  any; no blocks at all where one of them is 0

__global__ void __launch_bounds__(16 * 16)
    transpose_naive(const unsigned* __restrict__ in, unsigned* __restrict__ out, size_t height, size_t width) {
  constexpr unsigned TILE = 16;  // words along each side of a tile
  __shared__ unsigned tile[TILE][TILE];

  const unsigned x = threadIdx.x, y = threadIdx.y;
  const unsigned tiles_across = unsigned((width + TILE - 1) / TILE);
  const size_t top = size_t(blockIdx.x / tiles_across) * TILE;
  const size_t left = size_t(blockIdx.x % tiles_across) * TILE;

  unsigned word = 0;
  if (top + y < height && left + x < width) word = in[(top + y) * width + left + x];

  // --- shared-memory section ---
  tile[y][x] = word;
  __syncthreads();
  word = tile[x][y];
  // --- end of section ---

  if (left + y < width && top + x < height) out[(left + y) * height + top + x] = word;
}
