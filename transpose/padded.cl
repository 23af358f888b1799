// SPDX-License-Identifier: MIT-0
//
// Matrix transpose through a padded 16 x 17 tile (the padding by one column of Ruetsch & Micikevicius 2009, "Optimizing
// Matrix Transpose in CUDA"). It has no conflict on 16 banks; on 32 banks, 2-way conflicts remain.
//
// padded.cuh explains what it changes, its lanes and its banks.
//
// Contract
//   launch  ceil(height / TILE) * ceil(width / TILE) work-groups of TILE x TILE work-items, tiles in row-major order
//   in      height x width words, row-major
//   out     width x height words, row-major: out[x][y] = in[y][x]; must not overlap `in`
//   height, width  any; launch no work-group if either is 0

#define TILE 16u  // words along each side of a tile

__kernel __attribute__((reqd_work_group_size(TILE, TILE, 1)))
void transpose_padded(__global const uint* restrict in, __global uint* restrict out, ulong height, ulong width) {
  __local uint tile[TILE][TILE + 1];

  const uint x = get_local_id(0), y = get_local_id(1);
  const uint tiles_across = (uint)((width + TILE - 1) / TILE);
  const size_t top = (size_t)((uint)get_group_id(0) / tiles_across) * TILE;
  const size_t left = (size_t)((uint)get_group_id(0) % tiles_across) * TILE;

  // load the tile, coalesced
  uint word = 0;
  if (top + y < height && left + x < width) word = in[(top + y) * width + left + x];

  // --- shared-memory section ---
  // store rows to the tile
  tile[y][x] = word;
  barrier(CLK_LOCAL_MEM_FENCE);
  // load columns of the tile
  word = tile[x][y];
  // --- end of section ---

  // store the tile transposed, coalesced
  if (left + y < width && top + x < height) out[(left + y) * height + top + x] = word;
}
