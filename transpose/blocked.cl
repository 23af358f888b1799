// SPDX-License-Identifier: MIT-0
//
// Transposes a matrix of 32-bit words as a CPU likes it best: every work-item by itself, in blocks of 16 x 16 words. A
// row of a block is a cache line, read once, whole, and written once, whole.
//
//   lanes  One in a group. A CPU's core has wide registers instead: vectors of 16 words, which four rounds of riffling
//          turn from rows into columns. From one block to the next, the core's prefetcher sees 16 rows go on.
//   banks  None: no local memory, which on a CPU is memory like any other. What comes close to a conflict are rows a
//          power of two apart, which share places in the cache; a line that is used up at once need not stay there.
//
// Contract
//   launch  ceil(height / TILE) * ceil(width / TILE) groups of exactly one work-item, row after row of tiles
//   in      height x width words, row after row
//   out     width x height words, row after row: out[x][y] = in[y][x]; must not overlap `in`
//   height, width  any; no groups at all where one of them is 0

#define TILE 512u  // words along each side of a tile
#define LINE 16u   // words of a cache line, and along each side of a block

// Lays the lower eight rows between the upper eight, word by word. Four times over, and the rows are columns.
void riffle(__private const uint16* from, __private uint16* to) {
#pragma unroll
  for (uint r = 0; r < LINE / 2; ++r) {  // unrolled, all of it stays in registers
    to[2 * r].even = from[r].lo;
    to[2 * r].odd = from[r + LINE / 2].lo;
    to[2 * r + 1].even = from[r].hi;
    to[2 * r + 1].odd = from[r + LINE / 2].hi;
  }
}

#ifdef __has_builtin
#if __has_builtin(__builtin_nontemporal_store)
#define PAST_THE_CACHE
#endif
#endif

// Stores 16 words. A whole line need not be read before: past the cache, where the compiler has a word for that.
void store_line(__global uint* to, uint16 line) {
#ifdef PAST_THE_CACHE
  if ((ulong)to % sizeof(uint16) == 0) {
    __builtin_nontemporal_store(line, (__global uint16*)to);
    return;
  }
#endif
  vstore16(line, 0, to);
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void transpose_blocked(__global const uint* restrict in, __global uint* restrict out, ulong height, ulong width) {
  const uint tiles_across = (uint)((width + TILE - 1) / TILE);
  const size_t top = (size_t)((uint)get_group_id(0) / tiles_across) * TILE;
  const size_t left = (size_t)((uint)get_group_id(0) % tiles_across) * TILE;
  const size_t bottom = min(top + TILE, (size_t)height), right = min(left + TILE, (size_t)width);

  for (size_t y = top; y < bottom; y += LINE) {
    for (size_t x = left; x < right; x += LINE) {
      if (y + LINE <= bottom && x + LINE <= right) {
        uint16 row[LINE], turned[LINE];
#pragma unroll
        for (uint r = 0; r < LINE; ++r) row[r] = vload16(0, in + (y + r) * width + x);
        riffle(row, turned);
        riffle(turned, row);
        riffle(row, turned);
        riffle(turned, row);
#pragma unroll
        for (uint r = 0; r < LINE; ++r) store_line(out + (x + r) * height + y, row[r]);
      } else {  // over the edge
        for (size_t column = x; column < min(x + LINE, right); ++column) {
          for (size_t r = y; r < min(y + LINE, bottom); ++r) out[column * height + r] = in[r * width + column];
        }
      }
    }
  }
}
