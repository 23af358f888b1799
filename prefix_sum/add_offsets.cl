// SPDX-License-Identifier: MIT-0
//
// Uniform add, the last step of a scan of many tiles (Harris, Sengupta & Owens, GPU Gems 3, ch. 39): adds to every word
// of a tile the sum of all tiles before it, modulo 2^32.
//
//   lanes  All active, except past the end of the last tile.
//   banks  No local memory.
//
// Contract
//   launch   ceil(n / TILE) groups of exactly BLOCK work-items, one-dimensional
//   data     n words, changed in place
//   offsets  one word per group: the exclusive prefix sum of the tiles' totals
//   n        any, including 0 (with 0 or more groups)

#ifndef BLOCK
#define BLOCK 256u  // work-items per group
#endif
#define TILE (2 * BLOCK)  // words per group, as in the kernel that scanned the tiles

__kernel __attribute__((reqd_work_group_size(BLOCK, 1, 1)))
void scan_add_offsets(__global uint* restrict data, __global const uint* restrict offsets, ulong n) {
  const size_t i = (size_t)get_group_id(0) * TILE + get_local_id(0);
  const uint offset = offsets[get_group_id(0)];

  // add the tile's offset to two words per work-item, coalesced
  if (i < n) data[i] += offset;
  if (i + BLOCK < n) data[i + BLOCK] += offset;
}
