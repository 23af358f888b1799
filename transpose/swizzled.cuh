// SPDX-License-Identifier: MIT-0
//
// Matrix transpose through an XOR-swizzled 32 x 32 tile: no bank conflict, no padding (XOR scheme: Frailong, Jalby &
// Lenfant 1985, "XOR-Schemes: A Flexible Data Organization in Parallel Memories").
//
// Changed against tile32.cuh: word (r, x) of the tile is in column x ^ r of its row.
//
//   lanes  As in tile32.cuh.
//   banks  Stores by rows: x ^ r takes all 32 values, so no conflict. Loads by columns read words 32x + (r ^ x): again
//          all 32 banks. The same fix as in tile32_padded.cuh, at the cost of one XOR instead of 32 words of padding.
//
// Contract
//   launch  ceil(height / TILE) * ceil(width / TILE) blocks of TILE x ROWS threads, tiles in row-major order
//   in      height x width words, row-major
//   out     width x height words, row-major: out[x][y] = in[y][x]; must not overlap `in`
//   height, width  any; launch no block if either is 0

__global__ void __launch_bounds__(32 * 8)
    transpose_swizzled(const unsigned* __restrict__ in, unsigned* __restrict__ out, size_t height, size_t width) {
  constexpr unsigned TILE = 32;  // words along each side of a tile
  constexpr unsigned ROWS = 8;   // rows of threads; each thread moves TILE / ROWS words
  __shared__ unsigned tile[TILE][TILE];

  const unsigned x = threadIdx.x, y = threadIdx.y;
  const unsigned tiles_across = unsigned((width + TILE - 1) / TILE);
  const size_t top = size_t(blockIdx.x / tiles_across) * TILE;
  const size_t left = size_t(blockIdx.x % tiles_across) * TILE;

  // load the tile, coalesced
  unsigned word[TILE / ROWS] = {};
  for (unsigned k = 0; k < TILE / ROWS; ++k) {
    const size_t row = top + y + k * ROWS;
    if (row < height && left + x < width) word[k] = in[row * width + left + x];
  }

  // --- shared-memory section ---
  // store rows to the tile
  for (unsigned k = 0; k < TILE / ROWS; ++k) {
    const unsigned r = y + k * ROWS;
    tile[r][x ^ r] = word[k];
  }
  __syncthreads();
  // load columns of the tile
  for (unsigned k = 0; k < TILE / ROWS; ++k) {
    const unsigned r = y + k * ROWS;
    word[k] = tile[x][r ^ x];
  }
  // --- end of section ---

  // store the tile transposed, coalesced
  for (unsigned k = 0; k < TILE / ROWS; ++k) {
    const size_t row = left + y + k * ROWS;
    if (row < width && top + x < height) out[row * height + top + x] = word[k];
  }
}
