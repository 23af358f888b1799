// SPDX-License-Identifier: MIT-0
//
// Matrix transpose across several devices, first launch of pack, all-to-all, unpack: transposes this rank's rows, or
// some of them, into one block per rank, each contiguous, ready to be sent. 64 x 64 tiles, 16-byte accesses, XOR
// swizzle of 16-byte chunks.
//
// pack.cuh explains its lanes and banks.
//
// Contract
//   launch  ranks * ceil(widest / TILE) * ceil(rows / TILE) work-groups of THREADS work-items, one-dimensional; widest
//           = ceil(width / ranks)
//   in      rows x width words, row-major; 16-byte aligned
//   out     rows * width words, 16-byte aligned, one block per rank, in order: the columns that rank r will hold, from
//           first(r) up to first(r + 1), as rows of `rows` words. first(r) = width / ranks * r + min(r, width % ranks)
//   rows, width  any; launch no work-group if either is 0
//   first_row  0; or, to transpose only a part of the rows, those from first_row up to first_row + rows;
//           a multiple of 4. `in` and `out` are still those of all rows: the blocks come after first_row * width words

#define TILE 64u            // words along each side of a tile
#define CHUNKS (TILE / 4)   // of four words, per row of the tile
#define THREADS (CHUNKS * CHUNKS)

// Row x of the tile is a column of `in`.
uint place(uint x, uint chunk) { return x * CHUNKS + (chunk ^ x / 4); }

__kernel __attribute__((reqd_work_group_size(THREADS, 1, 1)))
void transpose_ranks_pack(__global const uint* restrict in, __global uint* restrict out, ulong rows, ulong width,
                          ulong rank, ulong ranks, ulong first_row) {
  __local uint4 tile[TILE * CHUNKS];

  // adjacent work-groups go to different ranks; those of one rank take their tiles from top to bottom
  const ulong group = get_group_id(0), target = (rank + group) % ranks, number = group / ranks;
  const ulong first = width / ranks * target + min(target, width % ranks);
  const ulong columns = width / ranks + (target < width % ranks);
  const ulong down = (rows + TILE - 1) / TILE;
  const ulong top = number % down * TILE, left = number / down * TILE;

  // load a square of 4 x 4 words: 16 lanes load 256 contiguous bytes
  const uint across = get_local_id(0) % CHUNKS, below = get_local_id(0) / CHUNKS;
  // no words if this rank has fewer columns than others; PoCL 3.1 miscompiles a return before a barrier
  const uint wide = left < columns ? (uint)min(columns - left, (ulong)TILE) : 0;
  const uint high = (uint)min(rows - top, (ulong)TILE);
  const uint columns_here = 4 * across < wide ? wide - 4 * across : 0;  // of the square
  uint4 row[4] = {(uint4)(0), (uint4)(0), (uint4)(0), (uint4)(0)};
  if (width % 4 == 0 && first % 4 == 0) {
#pragma unroll
    for (uint k = 0; k < 4; ++k) {
      __global const uint* const from = in + (first_row + top + 4 * below + k) * width + first + left + 4 * across;
      if (columns_here > 0 && 4 * below + k < high) row[k] = *(__global const uint4*)(from);
    }
  } else {
    for (uint k = 0; k < 4; ++k) {
      __global const uint* const from = in + (first_row + top + 4 * below + k) * width + first + left + 4 * across;
      if (4 * below + k >= high) continue;
      if (columns_here > 0) row[k].x = from[0];
      if (columns_here > 1) row[k].y = from[1];
      if (columns_here > 2) row[k].z = from[2];
      if (columns_here > 3) row[k].w = from[3];
    }
  }

  // store its columns as rows of the tile
  tile[place(4 * across, below)] = (uint4)(row[0].x, row[1].x, row[2].x, row[3].x);
  tile[place(4 * across + 1, below)] = (uint4)(row[0].y, row[1].y, row[2].y, row[3].y);
  tile[place(4 * across + 2, below)] = (uint4)(row[0].z, row[1].z, row[2].z, row[3].z);
  tile[place(4 * across + 3, below)] = (uint4)(row[0].w, row[1].w, row[2].w, row[3].w);
  barrier(CLK_LOCAL_MEM_FENCE);

  // store the tile's rows: 16 lanes store 256 contiguous bytes
  __global uint* const block = out + first_row * width + first * rows;
  const uint rows_here = 4 * across < high ? high - 4 * across : 0;  // of the square
  if (rows % 4 == 0) {
#pragma unroll
    for (uint k = 0; k < 4; ++k) {
      const uint x = below + k * CHUNKS;
      __global uint* const to = block + (left + x) * rows + top + 4 * across;
      if (x < wide && rows_here > 0) *(__global uint4*)to = tile[place(x, across)];
    }
  } else {
    for (uint k = 0; k < 4; ++k) {
      const uint x = below + k * CHUNKS;
      __global uint* const to = block + (left + x) * rows + top + 4 * across;
      const uint4 words = tile[place(x, across)];
      if (x >= wide) continue;
      if (rows_here > 0) to[0] = words.x;
      if (rows_here > 1) to[1] = words.y;
      if (rows_here > 2) to[2] = words.z;
      if (rows_here > 3) to[3] = words.w;
    }
  }
}
