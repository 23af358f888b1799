// SPDX-License-Identifier: MIT-0
//
// tile32.cuh without padding: word (r, x) of the tile lies in column x ^ r of its row.
//
//   lanes  As in tile32.cuh.
//   banks  Written by rows, x ^ r runs through all 32 columns: no conflict. Read by columns, word 32x + (r ^ x): again
//          all 32 banks. The cure of tile32_padded.cuh for the price of one XOR instead of 32 words.
//
// Contract
//   launch  ceil(height / TILE) * ceil(width / TILE) blocks of TILE x ROWS threads, row of tiles after row of tiles
//   in      height x width words, row after row
//   out     width x height words, row after row: out[x][y] = in[y][x]; must not overlap `in`
//   height, width  any; no blocks at all where one of them is 0

__global__ void __launch_bounds__(32 * 8)
    transpose_swizzled(const unsigned* __restrict__ in, unsigned* __restrict__ out, size_t height, size_t width) {
  constexpr unsigned TILE = 32;  // words along each side of a tile
  constexpr unsigned ROWS = 8;   // rows of threads; each takes TILE / ROWS words
  __shared__ unsigned tile[TILE][TILE];

  const unsigned x = threadIdx.x, y = threadIdx.y;
  const unsigned tiles_across = unsigned((width + TILE - 1) / TILE);
  const size_t top = size_t(blockIdx.x / tiles_across) * TILE;
  const size_t left = size_t(blockIdx.x % tiles_across) * TILE;

  unsigned word[TILE / ROWS] = {};
  for (unsigned k = 0; k < TILE / ROWS; ++k) {
    const size_t row = top + y + k * ROWS;
    if (row < height && left + x < width) word[k] = in[row * width + left + x];
  }

  // --- shared-memory section ---
  for (unsigned k = 0; k < TILE / ROWS; ++k) {
    const unsigned r = y + k * ROWS;
    tile[r][x ^ r] = word[k];
  }
  __syncthreads();
  for (unsigned k = 0; k < TILE / ROWS; ++k) {
    const unsigned r = y + k * ROWS;
    word[k] = tile[x][r ^ x];
  }
  // --- end of section ---

  for (unsigned k = 0; k < TILE / ROWS; ++k) {
    const size_t row = left + y + k * ROWS;
    if (row < width && top + x < height) out[row * height + top + x] = word[k];
  }
}
