// SPDX-License-Identifier: MIT-0
//
// Matrix transpose without local memory: coalesced loads, strided stores (the naive transpose of Ruetsch & Micikevicius
// 2009, "Optimizing Matrix Transpose in CUDA"). It shows why the other kernels use a tile.
//
//   lanes  All active, except in tiles that extend past the edge.
//   banks  No local memory. A warp loads two rows of 16 words. It stores two words to each of 16 rows of `out`; each
//          pair uses 8 bytes of a 32-byte sector.
//
// Contract
//   launch  ceil(height / TILE) * ceil(width / TILE) work-groups of TILE x TILE work-items, tiles in row-major order
//   in      height x width words, row-major
//   out     width x height words, row-major: out[x][y] = in[y][x]; must not overlap `in`
//   height, width  any; launch no work-group if either is 0

#define TILE 16u  // words along each side of a tile

__kernel __attribute__((reqd_work_group_size(TILE, TILE, 1)))
void transpose_global(__global const uint* restrict in, __global uint* restrict out, ulong height, ulong width) {
  const uint x = get_local_id(0), y = get_local_id(1);
  const uint tiles_across = (uint)((width + TILE - 1) / TILE);
  const size_t top = (size_t)((uint)get_group_id(0) / tiles_across) * TILE;
  const size_t left = (size_t)((uint)get_group_id(0) % tiles_across) * TILE;

  // load a word, coalesced, and store it, strided by the height
  const size_t row = top + y, column = left + x;
  if (row < height && column < width) out[column * height + row] = in[row * width + column];
}
