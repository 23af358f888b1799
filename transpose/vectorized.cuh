// SPDX-License-Identifier: MIT-0
//
// swizzled.cuh with 16 bytes for each lane instead of 4: a quarter of the accesses move the same words. Its tile has
// 64 x 64 words, so that rows of it are 256 bytes of memory.
//
//   lanes  A warp takes patches of 4 rows x 32 columns, of `in` and then of `out`. Eight lanes have a chunk of four
//          words each, side by side in one row. Where rows are not whole chunks, most do not begin at a multiple of 16
//          bytes; there a lane has a word of each row. All busy, but for tiles that hang over the edge.
//   banks  Column x of the tile is a row of 16 chunks in shared memory, and chunk c in place c ^ (x ^ x / 4) % 8; any
//          eight places in a row are all 32 banks. Stored are words of eight columns that are 4 apart, which x / 4
//          parts, or chunks of columns side by side, which x does. Loaded are chunks or words of one column. No
//          conflict, whatever the shape.
//
// Contract
//   launch  ceil(height / TILE) * ceil(width / TILE) blocks of LANES x WARPS threads, row after row of tiles
//   in      height x width words, row after row; 16-byte aligned
//   out     width x height words, row after row: out[x][y] = in[y][x]; 16-byte aligned; must not overlap `in`
//   height, width  any; no blocks at all where one of them is 0

constexpr unsigned TILE = 64;               // words along each side of a tile
constexpr unsigned LANES = 32;              // threads along a block, and columns of a patch
constexpr unsigned WARPS = TILE / 4;        // each takes four rows,
constexpr unsigned PATCHES = TILE / LANES;  // and their patches side by side

// Where word y of column x lies in the tile. Those of a chunk, y .. y + 3, lie side by side.
static __device__ unsigned place(unsigned x, unsigned y) {
  return x * TILE + (y / 4 ^ (x ^ x / 4) % 8) * 4 + y % 4;
}

__global__ void __launch_bounds__(LANES* WARPS)
    transpose_vectorized(const unsigned* __restrict__ in, unsigned* __restrict__ out, size_t height, size_t width) {
  __shared__ __align__(16) unsigned tile[TILE * TILE];

  const unsigned lane = threadIdx.x, first = 4 * threadIdx.y;    // of a patch's rows
  const unsigned row = first + lane / 8, column = lane % 8 * 4;  // of the lane's chunk
  const unsigned tiles_across = unsigned((width + TILE - 1) / TILE);
  const size_t top = size_t(blockIdx.x / tiles_across) * TILE;
  const size_t left = size_t(blockIdx.x % tiles_across) * TILE;
  const unsigned rows = unsigned(min(height - top, size_t(TILE)));  // fewer at the edge
  const unsigned columns = unsigned(min(width - left, size_t(TILE)));

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

  // --- shared-memory phase ---
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
#pragma unroll
  for (unsigned k = 0; k < PATCHES; ++k) {  // the same patches, now of `out`
    if (height % 4 == 0) {
      word[k] = *reinterpret_cast<const uint4*>(&tile[place(row, k * LANES + column)]);
    } else {
      const unsigned y = k * LANES + lane;
      word[k].x = tile[place(first, y)];
      word[k].y = tile[place(first + 1, y)];
      word[k].z = tile[place(first + 2, y)];
      word[k].w = tile[place(first + 3, y)];
    }
  }
  // --- end of phase ---

#pragma unroll
  for (unsigned k = 0; k < PATCHES; ++k) {
    const size_t y = top + k * LANES;
    if (height % 4 == 0) {
      if (row < columns && k * LANES + column < rows) {
        *reinterpret_cast<uint4*>(out + (left + row) * height + y + column) = word[k];
      }
    } else if (k * LANES + lane < rows) {
      unsigned* to = out + (left + first) * height + y + lane;
      if (first < columns) to[0] = word[k].x;
      if (first + 1 < columns) to[height] = word[k].y;
      if (first + 2 < columns) to[2 * height] = word[k].z;
      if (first + 3 < columns) to[3 * height] = word[k].w;
    }
  }
}
