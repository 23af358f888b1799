// SPDX-License-Identifier: MIT-0
//
// Transposes a matrix of 32-bit words through a 16 x 16 tile in shared memory: rows in, columns out, so that memory
// is read and written along rows.
//
//   lanes  All busy, but for tiles that hang over the edge.
//   banks  A wavefront of 32 holds two rows of the tile. Written by rows, 32 words next to each other: no conflict.
//          Read by columns, word 16x + y: 16 lanes share two banks, so 8-way conflicts (16-way on 16 banks).
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
void transpose_naive(__global const uint* restrict in, __global uint* restrict out, ulong height, ulong width) {
  __local uint tile[TILE][TILE];

  const uint x = get_local_id(0), y = get_local_id(1);
  const uint tiles_across = (uint)((width + TILE - 1) / TILE);
  const size_t top = (size_t)((uint)get_group_id(0) / tiles_across) * TILE;
  const size_t left = (size_t)((uint)get_group_id(0) % tiles_across) * TILE;

  uint word = 0;
  if (top + y < height && left + x < width) word = in[(top + y) * width + left + x];

  // --- shared-memory section ---
  tile[y][x] = word;
  barrier(CLK_LOCAL_MEM_FENCE);
  word = tile[x][y];
  // --- end of section ---

  if (left + y < width && top + x < height) out[(left + y) * height + top + x] = word;
}
