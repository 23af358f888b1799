// SPDX-License-Identifier: MIT-0
//
// Matrix transpose for CPUs: one work-item per 512 x 512 tile, cache blocking by 16 x 16 words, perfect shuffles of
// vector registers (Stone 1971, "Parallel Processing with the Perfect Shuffle"), non-temporal stores. Each row of a
// block is a whole cache line, read once and written once.
//
// Changed against global.cl: one work-item works through a tile, cache line by cache line.
//
//   lanes  One per work-group. A CPU core has wide registers instead: vectors of 16 words, which four perfect shuffles
//          transpose. From one block to the next, the hardware prefetcher follows 16 rows.
//   banks  The kernel uses no local memory. On a CPU, local memory is memory like any other. The nearest analogue of a
//          bank conflict is cache-set aliasing of rows a power of two apart; each line is consumed immediately, so it
//          need not stay in the cache.
//
// Contract
//   launch  ceil(height / TILE) * ceil(width / TILE) work-groups of exactly one work-item, tiles in row-major order
//   in      height x width words, row-major
//   out     width x height words, row-major: out[x][y] = in[y][x]; must not overlap `in`
//   height, width  any; launch no work-group if either is 0

#define TILE 512u  // words along each side of a tile
#define LINE 16u   // words of a cache line, and along each side of a block

// Perfect shuffle: interleaves the words of the first eight rows with those of the last eight. Four of them transpose
// the block.
void riffle(__private const uint16* from, __private uint16* to) {
#pragma unroll
  for (uint r = 0; r < LINE / 2; ++r) {  // unrolled, so that all rows stay in registers
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

// Stores 16 words. A non-temporal store of a whole line does not read the line first; it needs a compiler built-in.
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
        // load 16 cache lines, transpose them in registers, store 16 cache lines
        uint16 row[LINE], turned[LINE];
#pragma unroll
        for (uint r = 0; r < LINE; ++r) row[r] = vload16(0, in + (y + r) * width + x);
        riffle(row, turned);
        riffle(turned, row);
        riffle(row, turned);
        riffle(turned, row);
#pragma unroll
        for (uint r = 0; r < LINE; ++r) store_line(out + (x + r) * height + y, row[r]);
      } else {  // past the edge: word by word
        for (size_t column = x; column < min(x + LINE, right); ++column) {
          for (size_t r = y; r < min(y + LINE, bottom); ++r) out[column * height + r] = in[r * width + column];
        }
      }
    }
  }
}
