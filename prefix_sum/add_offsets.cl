// SPDX-License-Identifier: MIT-0
//
// The last step of a scan in tiles: adds to every word of a tile what stands before that tile, modulo 2^32.
//
//   lanes  All busy, in the last tile as far as the words reach.
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
  if (i < n) data[i] += offset;
  if (i + BLOCK < n) data[i + BLOCK] += offset;
}
