// SPDX-License-Identifier: MIT-0
//
// Matrix transpose with tiles in the order of the output: contiguous writes, strided reads.
//
// output_order.cuh explains what it changes, its lanes and its banks.
//
// Contract
//   launch  ceil(height / TILE) * ceil(width / TILE) work-groups of LANES x WARPS work-items, tiles in column-major
//           order
//   in      height x width words, row-major; 16-byte aligned
//   out     width x height words, row-major: out[x][y] = in[y][x]; 16-byte aligned; must not overlap `in`
//   height, width  any; launch no work-group if either is 0

#define TILE 64u                // words along each side of a tile
#define LANES 32u               // work-items along x: a warp, and the columns of a patch
#define WARPS (TILE / 4)        // per work-group; each loads four rows,
#define PATCHES (TILE / LANES)  // in this many adjacent patches
#define CHUNKS (TILE / 4)       // of four words, per column of the tile

// The index of word y of column x in the tile. The four words of a chunk, y .. y + 3, are contiguous.
uint place(uint x, uint y) { return x * TILE + (y / 4 ^ (x ^ x / 4) % 8) * 4 + y % 4; }

__kernel __attribute__((reqd_work_group_size(LANES, WARPS, 1)))
void transpose_output_order(__global const uint* restrict in, __global uint* restrict out, ulong height, ulong width) {
  __local uint4 chunks[TILE * TILE / 4];
  __local uint* const tile = (__local uint*)chunks;

  const uint lane = get_local_id(0), first = 4 * (uint)get_local_id(1);  // first row of the warp's patches
  const uint row = first + lane / 8, column = lane % 8 * 4;              // of the lane's chunk
  const uint tiles_down = (uint)((height + TILE - 1) / TILE);
  const size_t top = (size_t)((uint)get_group_id(0) % tiles_down) * TILE;
  const size_t left = (size_t)((uint)get_group_id(0) / tiles_down) * TILE;
  const uint rows = (uint)min(height - top, (ulong)TILE);  // fewer at the edge
  const uint columns = (uint)min(width - left, (ulong)TILE);

  // load the patches, coalesced: 16 bytes per lane, or four words where rows are not whole chunks
  uint4 word[PATCHES] = {(uint4)(0)};
#pragma unroll
  for (uint k = 0; k < PATCHES; ++k) {
    const size_t x = left + k * LANES;
    if (width % 4 == 0) {
      if (row < rows && k * LANES + column < columns) {
        word[k] = *(__global const uint4*)(in + (top + row) * width + x + column);
      }
    } else if (k * LANES + lane < columns) {
      __global const uint* from = in + (top + first) * width + x + lane;
      if (first < rows) word[k].x = from[0];
      if (first + 1 < rows) word[k].y = from[width];
      if (first + 2 < rows) word[k].z = from[2 * width];
      if (first + 3 < rows) word[k].w = from[3 * width];
    }
  }

  // --- shared-memory section ---
  // store the patches to the tile, transposed: a column of the patch is a row of local memory
#pragma unroll
  for (uint k = 0; k < PATCHES; ++k) {
    if (width % 4 == 0) {
      const uint x = k * LANES + column;
      tile[place(x, row)] = word[k].x;
      tile[place(x + 1, row)] = word[k].y;
      tile[place(x + 2, row)] = word[k].z;
      tile[place(x + 3, row)] = word[k].w;
    } else {
      *(__local uint4*)&tile[place(k * LANES + lane, first)] = word[k];
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  // load rows of `out` from the tile: two per iteration, contiguous
#pragma unroll
  for (uint k = 0; k < PATCHES; ++k) {
    const uint x = first + 2 * k;
    if (height % 4 == 0) {
      word[k] = *(__local const uint4*)&tile[place(x + lane / CHUNKS, lane % CHUNKS * 4)];
    } else {
      word[k].x = tile[place(x, lane)];
      word[k].y = tile[place(x, lane + LANES)];
      word[k].z = tile[place(x + 1, lane)];
      word[k].w = tile[place(x + 1, lane + LANES)];
    }
  }
  // --- end of section ---

  // store the tile transposed, coalesced
#pragma unroll
  for (uint k = 0; k < PATCHES; ++k) {
    const uint x = first + 2 * k, below = lane % CHUNKS * 4;
    if (height % 4 == 0) {
      if (x + lane / CHUNKS < columns && below < rows) {
        *(__global uint4*)(out + (left + x + lane / CHUNKS) * height + top + below) = word[k];
      }
    } else {
      __global uint* to = out + (left + x) * height + top + lane;
      if (x < columns && lane < rows) to[0] = word[k].x;
      if (x < columns && lane + LANES < rows) to[LANES] = word[k].y;
      if (x + 1 < columns && lane < rows) to[height] = word[k].z;
      if (x + 1 < columns && lane + LANES < rows) to[height + LANES] = word[k].w;
    }
  }
}
