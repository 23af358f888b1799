// SPDX-License-Identifier: MIT-0
//
// Uniform add, the last step of a scan of many tiles (Harris, Sengupta & Owens, GPU Gems 3, ch. 39): adds to every word
// of a tile the sum of all tiles before it, modulo 2^32. add_offsets_wide is for larger tiles, with 16-byte accesses.
//
// Kernels: add_offsets, add_offsets_wide
//
//   lanes  All active, except past the end of the last tile.
//   banks  No local memory.
//
// Contract
//   launch   ceil(n / TILE) (add_offsets_wide: ceil(n / WIDE_TILE)) groups of exactly BLOCK work-items, one-dimensional
//   data     n words, changed in place; for add_offsets_wide 16-byte aligned
//   offsets  one word per group: the exclusive prefix sum of the tiles' totals
//   n        any, including 0 (with 0 or more groups)

#define BLOCK 256u  // work-items per group
#define TILE (2 * BLOCK)             // words per group, as in the kernel that scanned the tiles
#define ROWS 2u                      // 16-byte accesses per work-item of add_offsets_wide
#define WIDE_ROW (4 * BLOCK)         // words per group and row
#define WIDE_TILE (ROWS * WIDE_ROW)  // words per group

__kernel __attribute__((reqd_work_group_size(BLOCK, 1, 1)))
void scan_add_offsets(__global uint* restrict data, __global const uint* restrict offsets, ulong n) {
  const size_t i = (size_t)get_group_id(0) * TILE + get_local_id(0);
  const uint offset = offsets[get_group_id(0)];

  // add the tile's offset to two words per work-item, coalesced
  if (i < n) data[i] += offset;
  if (i + BLOCK < n) data[i + BLOCK] += offset;
}

__kernel __attribute__((reqd_work_group_size(BLOCK, 1, 1)))
void scan_add_offsets_wide(__global uint* restrict data, __global const uint* restrict offsets, ulong n) {
  const size_t first = (size_t)get_group_id(0) * WIDE_TILE + 4 * get_local_id(0);
  const uint offset = offsets[get_group_id(0)];
  if (first + (WIDE_ROW + 3) < n) {
    // all words exist: two 16-byte accesses, coalesced
    __global uint4* const here = (__global uint4*)(data + first);
    __global uint4* const there = (__global uint4*)(data + first + WIDE_ROW);
    const uint4 a = *here, b = *there;  // both loads in flight before the first use
    *here = a + offset;
    *there = b + offset;
  } else {
    // at the end of the data: word by word
    for (uint row = 0; row < ROWS; ++row) {
      for (uint k = 0; k < 4; ++k) {
        const size_t i = first + row * WIDE_ROW + k;
        if (i < n) data[i] += offset;
      }
    }
  }
}
