// SPDX-License-Identifier: MIT-0
//
// Vectorized uniform add, the last step of a scan of tiles of 2048 words: adds to every word of a tile the sum of all
// tiles before it, modulo 2^32.
//
// Changed against add_offsets.cl: 16-byte loads and stores.
//
//   lanes  All active, except past the end of the last tile.
//   banks  No local memory.
//
// Contract
//   launch   ceil(n / TILE) groups of exactly BLOCK work-items, one-dimensional
//   data     n words, 16-byte aligned, changed in place
//   offsets  one word per group: the exclusive prefix sum of the tiles' totals
//   n        any, including 0 (with 0 or more groups)

#ifndef BLOCK
#define BLOCK 256u  // work-items per group
#endif
#define ROWS 2u                 // 16-byte accesses per work-item
#define TILE_ROW (4 * BLOCK)    // words per group and row
#define TILE (ROWS * TILE_ROW)  // words per group, as in the kernel that scanned the tiles

__kernel __attribute__((reqd_work_group_size(BLOCK, 1, 1)))
void scan_add_offsets_wide(__global uint* restrict data, __global const uint* restrict offsets, ulong n) {
  const size_t first = (size_t)get_group_id(0) * TILE + 4 * get_local_id(0);
  const uint offset = offsets[get_group_id(0)];
  if (first + (TILE_ROW + 3) < n) {
    // all words exist: two 16-byte accesses, coalesced
    __global uint4* const here = (__global uint4*)(data + first);
    __global uint4* const there = (__global uint4*)(data + first + TILE_ROW);
    const uint4 a = *here, b = *there;  // both loads in flight before the first use
    *here = a + offset;
    *there = b + offset;
  } else {
    // at the end of the data: word by word
    for (uint row = 0; row < ROWS; ++row) {
      for (uint k = 0; k < 4; ++k) {
        const size_t i = first + row * TILE_ROW + k;
        if (i < n) data[i] += offset;
      }
    }
  }
}
