// SPDX-License-Identifier: MIT-0
//
// Transposes a matrix of 32-bit words straight from memory to memory: the case that needs a tile.
//
//   lanes  All busy, but for tiles that hang over the edge.
//   banks  No shared memory. The reads of 32 lanes lie in two rows of 16 words; the writes are two words in each of
//          16 rows of `out`, and each pair moves 32 bytes or more of memory for its 8.
//
// Contract
//   launch  ceil(height / TILE) * ceil(width / TILE) groups of TILE x TILE work-items, row of tiles after row of tiles
//   in      height x width words, row after row
//   out     width x height words, row after row: out[x][y] = in[y][x]; must not overlap `in`
//   height, width  any; no groups at all where one of them is 0

#ifndef TILE
#define TILE 16u  // words along each side of a tile
#endif

__kernel __attribute__((reqd_work_group_size(TILE, TILE, 1)))
void transpose_global(__global const uint* restrict in, __global uint* restrict out, ulong height, ulong width) {
  const uint x = get_local_id(0), y = get_local_id(1);
  const uint tiles_across = (uint)((width + TILE - 1) / TILE);
  const size_t top = (size_t)((uint)get_group_id(0) / tiles_across) * TILE;
  const size_t left = (size_t)((uint)get_group_id(0) % tiles_across) * TILE;

  const size_t row = top + y, column = left + x;
  if (row < height && column < width) out[column * height + row] = in[row * width + column];
}
