// SPDX-License-Identifier: MIT-0
//
// naive.cl with the tile as wide as the banks: 32 x 32 words, and four rows for each work-item.
//
//   lanes  All busy, but for tiles that hang over the edge.
//   banks  Written by rows: no conflict. Read by columns, word 32x + r: all 32 lanes in one bank, 32-way conflicts.
//
// Contract
//   launch  ceil(height / TILE) * ceil(width / TILE) groups of TILE x ROWS work-items, row of tiles after row of tiles
//   in      height x width words, row after row
//   out     width x height words, row after row: out[x][y] = in[y][x]; must not overlap `in`
//   height, width  any; no groups at all where one of them is 0

#ifndef TILE
#define TILE 32u  // words along each side of a tile
#endif
#ifndef ROWS
#define ROWS 8u   // rows of work-items; each takes TILE / ROWS words
#endif

__kernel __attribute__((reqd_work_group_size(TILE, ROWS, 1)))
void transpose_tile32(__global const uint* restrict in, __global uint* restrict out, ulong height, ulong width) {
  __local uint tile[TILE][TILE];

  const uint x = get_local_id(0), y = get_local_id(1);
  const uint tiles_across = (uint)((width + TILE - 1) / TILE);
  const size_t top = (size_t)((uint)get_group_id(0) / tiles_across) * TILE;
  const size_t left = (size_t)((uint)get_group_id(0) % tiles_across) * TILE;

  uint word[TILE / ROWS] = {0};
  for (uint k = 0; k < TILE / ROWS; ++k) {
    const size_t row = top + y + k * ROWS;
    if (row < height && left + x < width) word[k] = in[row * width + left + x];
  }

  // --- shared-memory section ---
  for (uint k = 0; k < TILE / ROWS; ++k) {
    const uint r = y + k * ROWS;
    tile[r][x] = word[k];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint k = 0; k < TILE / ROWS; ++k) {
    const uint r = y + k * ROWS;
    word[k] = tile[x][r];
  }
  // --- end of section ---

  for (uint k = 0; k < TILE / ROWS; ++k) {
    const size_t row = left + y + k * ROWS;
    if (row < width && top + x < height) out[row * height + top + x] = word[k];
  }
}
