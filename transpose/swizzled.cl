// SPDX-License-Identifier: MIT-0
//
// Matrix transpose through an XOR-swizzled 32 x 32 tile: no bank conflict, no padding (XOR scheme: Frailong, Jalby &
// Lenfant 1985, "XOR-Schemes: A Flexible Data Organization in Parallel Memories").
//
// swizzled.cuh explains what it changes, its lanes and its banks.
//
// Contract
//   launch  ceil(height / TILE) * ceil(width / TILE) work-groups of TILE x ROWS work-items, tiles in row-major order
//   in      height x width words, row-major
//   out     width x height words, row-major: out[x][y] = in[y][x]; must not overlap `in`
//   height, width  any; launch no work-group if either is 0

#define TILE 32u  // words along each side of a tile
#define ROWS 8u   // rows of work-items; each work-item moves TILE / ROWS words

__kernel __attribute__((reqd_work_group_size(TILE, ROWS, 1)))
void transpose_swizzled(__global const uint* restrict in, __global uint* restrict out, ulong height, ulong width) {
  __local uint tile[TILE][TILE];

  const uint x = get_local_id(0), y = get_local_id(1);
  const uint tiles_across = (uint)((width + TILE - 1) / TILE);
  const size_t top = (size_t)((uint)get_group_id(0) / tiles_across) * TILE;
  const size_t left = (size_t)((uint)get_group_id(0) % tiles_across) * TILE;

  // load the tile, coalesced
  uint word[TILE / ROWS] = {0};
  for (uint k = 0; k < TILE / ROWS; ++k) {
    const size_t row = top + y + k * ROWS;
    if (row < height && left + x < width) word[k] = in[row * width + left + x];
  }

  // --- shared-memory section ---
  // store rows to the tile
  for (uint k = 0; k < TILE / ROWS; ++k) {
    const uint r = y + k * ROWS;
    tile[r][x ^ r] = word[k];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  // load columns of the tile
  for (uint k = 0; k < TILE / ROWS; ++k) {
    const uint r = y + k * ROWS;
    word[k] = tile[x][r ^ x];
  }
  // --- end of section ---

  // store the tile transposed, coalesced
  for (uint k = 0; k < TILE / ROWS; ++k) {
    const size_t row = left + y + k * ROWS;
    if (row < width && top + x < height) out[row * height + top + x] = word[k];
  }
}
