// SPDX-License-Identifier: MIT-0
//
// Vectorized matrix transpose: 16-byte loads and stores (uint4), 64 x 64 tile, XOR swizzle of 16-byte chunks (Luitjens
// 2013, "CUDA Pro Tip: Increase Performance with Vectorized Memory Access"). Each row of a tile is 256 bytes of global
// memory. The stores are cache-streaming (PTX ISA, "Cache Operators": st.global.cs), because the kernel does not read
// its output again.
//
// Changed against swizzled.cuh: lanes load and store four words at once, a quarter of the global-memory instructions
// for the same words; the swizzle moves chunks of four words; the stores are cache-streaming.
//
//   lanes  A warp loads patches of 4 rows x 32 columns of `in`: eight lanes per row, each with a chunk of four words.
//          It stores four rows of `out`, two per instruction, 256 contiguous bytes each. If the rows of a matrix are
//          not whole chunks, most of them do not start at a multiple of 16 bytes; lanes then access single words there.
//          All active, except in tiles that extend past the edge.
//   banks  No conflict, for any shape. Column x of the tile is a row of 16 chunks in shared memory; chunk c is at
//          position c ^ (x ^ x / 4) % 8, and eight consecutive positions cover all 32 banks. A load takes one column.
//          A store takes eight columns: 4 apart for words, which the term x / 4 sends to different positions, or
//          adjacent for chunks, which the term x does.
//
// Contract
//   launch  ceil(height / TILE) * ceil(width / TILE) blocks of LANES x WARPS threads, tiles in row-major order
//   in      height x width words, row-major; 16-byte aligned
//   out     width x height words, row-major: out[x][y] = in[y][x]; 16-byte aligned; must not overlap `in`
//   height, width  any; launch no block if either is 0

__global__ void __launch_bounds__(32 * 16)
    transpose_vectorized(const unsigned* __restrict__ in, unsigned* __restrict__ out, size_t height, size_t width) {
  constexpr unsigned TILE = 64;               // words along each side of a tile
  constexpr unsigned LANES = 32;              // threads along x: a warp, and the columns of a patch
  constexpr unsigned WARPS = 16;              // per block; each loads four rows,
  constexpr unsigned PATCHES = TILE / LANES;  // in this many adjacent patches
  constexpr unsigned CHUNKS = TILE / 4;       // of four words, per column of the tile
  static_assert(4 * WARPS == TILE);

  // The index of word y of column x in the tile. The four words of a chunk, y .. y + 3, are contiguous.
  const auto place = [](unsigned x, unsigned y) { return x * TILE + (y / 4 ^ (x ^ x / 4) % 8) * 4 + y % 4; };

  __shared__ __align__(16) unsigned tile[TILE * TILE];

  const unsigned lane = threadIdx.x, first = 4 * threadIdx.y;    // first row of the warp's patches
  const unsigned row = first + lane / 8, column = lane % 8 * 4;  // of the lane's chunk
  const unsigned tiles_across = unsigned((width + TILE - 1) / TILE);
  const size_t top = size_t(blockIdx.x / tiles_across) * TILE;
  const size_t left = size_t(blockIdx.x % tiles_across) * TILE;
  const unsigned rows = unsigned(min(height - top, size_t(TILE)));  // fewer at the edge
  const unsigned columns = unsigned(min(width - left, size_t(TILE)));

  // load the patches, coalesced: 16 bytes per lane, or four words where rows are not whole chunks
  uint4 word[PATCHES] = {};
#pragma unroll
  for (unsigned k = 0; k < PATCHES; ++k) {
    const size_t x = left + k * LANES;
    if (width % 4 == 0) {
      if (row < rows && k * LANES + column < columns) {
        word[k] = *reinterpret_cast<const uint4*>(in + (top + row) * width + x + column);
      }
    } else if (k * LANES + lane < columns) {
      const unsigned* from = in + (top + first) * width + x + lane;
      if (first < rows) word[k].x = from[0];
      if (first + 1 < rows) word[k].y = from[width];
      if (first + 2 < rows) word[k].z = from[2 * width];
      if (first + 3 < rows) word[k].w = from[3 * width];
    }
  }

  // --- shared-memory section ---
  // store the patches to the tile, transposed: a column of the patch is a row of shared memory
#pragma unroll
  for (unsigned k = 0; k < PATCHES; ++k) {
    if (width % 4 == 0) {
      const unsigned x = k * LANES + column;
      tile[place(x, row)] = word[k].x;
      tile[place(x + 1, row)] = word[k].y;
      tile[place(x + 2, row)] = word[k].z;
      tile[place(x + 3, row)] = word[k].w;
    } else {
      *reinterpret_cast<uint4*>(&tile[place(k * LANES + lane, first)]) = word[k];
    }
  }
  __syncthreads();
  // load rows of `out` from the tile: two per iteration, contiguous
#pragma unroll
  for (unsigned k = 0; k < PATCHES; ++k) {
    const unsigned x = first + 2 * k;
    if (height % 4 == 0) {
      word[k] = *reinterpret_cast<const uint4*>(&tile[place(x + lane / CHUNKS, lane % CHUNKS * 4)]);
    } else {
      word[k].x = tile[place(x, lane)];
      word[k].y = tile[place(x, lane + LANES)];
      word[k].z = tile[place(x + 1, lane)];
      word[k].w = tile[place(x + 1, lane + LANES)];
    }
  }
  // --- end of section ---

  // store the tile transposed, coalesced, by cache-streaming stores; nvcc 13.0 would split plain ones into words
#pragma unroll
  for (unsigned k = 0; k < PATCHES; ++k) {
    const unsigned x = first + 2 * k, below = lane % CHUNKS * 4;
    if (height % 4 == 0) {
      if (x + lane / CHUNKS < columns && below < rows) {
        __stcs(reinterpret_cast<uint4*>(out + (left + x + lane / CHUNKS) * height + top + below), word[k]);
      }
    } else {
      unsigned* to = out + (left + x) * height + top + lane;
      if (x < columns && lane < rows) __stcs(to, word[k].x);
      if (x < columns && lane + LANES < rows) __stcs(to + LANES, word[k].y);
      if (x + 1 < columns && lane < rows) __stcs(to + height, word[k].z);
      if (x + 1 < columns && lane + LANES < rows) __stcs(to + height + LANES, word[k].w);
    }
  }
}
