// SPDX-License-Identifier: MIT-0
//
// naive.cl with rows of 17 words: one word of padding turns the stride of a column odd.
//
//   lanes  As in naive.cl.
//   banks  Read by columns, word 17x + y: on 16 banks, served 16 lanes at a time, no conflict, as the trick promises.
//          On 32 banks the two rows of a wavefront meet in one bank, at the write (words 0 and 32) and at the read:
//          2-way both times. tile32_padded.cl is the same idea at the width of today's banks.
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
void transpose_padded(__global const uint* restrict in, __global uint* restrict out, ulong height, ulong width) {
  __local uint tile[TILE][TILE + 1];

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
