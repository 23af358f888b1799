// SPDX-License-Identifier: MIT-0
//
// tile32.cuh with rows of 33 words: one word of padding turns the stride of a column odd.
//
//   lanes  As in tile32.cuh.
//   banks  Read by columns, word 33x + r: 32 lanes in 32 banks. No conflict on either side.
//
// Contract
//   launch  ceil(height / TILE) * ceil(width / TILE) blocks of TILE x ROWS threads, row of tiles after row of tiles
//   in      height x width words, row after row
//   out     width x height words, row after row: out[x][y] = in[y][x]; must not overlap `in`
//   height, width  any; no blocks at all where one of them is 0

__global__ void __launch_bounds__(32 * 8)
    transpose_tile32_padded(const unsigned* __restrict__ in, unsigned* __restrict__ out, size_t height, size_t width) {
  constexpr unsigned TILE = 32;  // words along each side of a tile
  constexpr unsigned ROWS = 8;   // rows of threads; each takes TILE / ROWS words
  __shared__ unsigned tile[TILE][TILE + 1];

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
    tile[r][x] = word[k];
  }
  __syncthreads();
  for (unsigned k = 0; k < TILE / ROWS; ++k) {
    const unsigned r = y + k * ROWS;
    word[k] = tile[x][r];
  }
  // --- end of section ---

  for (unsigned k = 0; k < TILE / ROWS; ++k) {
    const size_t row = left + y + k * ROWS;
    if (row < width && top + x < height) out[row * height + top + x] = word[k];
  }
}
