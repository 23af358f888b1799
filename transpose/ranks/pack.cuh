// SPDX-License-Identifier: MIT-0
//
// Matrix transpose across several GPUs, first launch of pack, all-to-all, unpack: transposes this rank's rows, or some
// of them, into one block per rank, each contiguous, ready to be sent. 64 x 64 tiles, 16-byte accesses, XOR swizzle of
// 16-byte chunks.
//
//   lanes  16 lanes load 256 contiguous bytes of a row, 16 bytes each. Each thread transposes a square of 4 x 4 words
//          in registers. All active, except in tiles that extend past the edge. Where rows do not begin at a multiple
//          of 16 bytes, a thread accesses its four words one by one.
//   banks  Chunk c of row x of the transposed tile is at position c ^ x / 4 of that row. Eight lanes with adjacent
//          squares store to rows that are 4 apart, and eight lanes load adjacent chunks of one row: eight different
//          positions either way, all 32 banks, no conflict.
//
// Contract
//   launch  ranks * ceil(widest / TILE) * ceil(rows / TILE) blocks of THREADS threads, one-dimensional; widest =
//           ceil(width / ranks)
//   in      rows x width words, row-major; 16-byte aligned
//   out     rows * width words, 16-byte aligned, one block per rank, in order: the columns that rank r will hold, from
//           first(r) up to first(r + 1), as rows of `rows` words. first(r) = width / ranks * r + min(r, width % ranks)
//   rows, width  any; launch no block if either is 0
//   first_row  0; or, to transpose only a part of the rows, those from first_row up to first_row + rows;
//           a multiple of 4. `in` and `out` are still those of all rows: the blocks come after first_row * width words

namespace transpose_ranks_pack_detail {

constexpr unsigned TILE = 64;          // words along each side of a tile
constexpr unsigned CHUNKS = TILE / 4;  // of four words, per row of the tile
constexpr unsigned THREADS = CHUNKS * CHUNKS;

}  // namespace transpose_ranks_pack_detail

__global__ void __launch_bounds__(transpose_ranks_pack_detail::THREADS)
    transpose_ranks_pack(const unsigned* __restrict__ in, unsigned* __restrict__ out, size_t rows, size_t width,
                         size_t rank, size_t ranks, size_t first_row) {
  using namespace transpose_ranks_pack_detail;
  __shared__ uint4 tile[TILE * CHUNKS];
  // Row x of the tile is a column of `in`.
  const auto place = [](unsigned x, unsigned chunk) { return x * CHUNKS + (chunk ^ x / 4); };

  // adjacent blocks go to different ranks; the blocks of one rank take their tiles from top to bottom
  const size_t target = (rank + blockIdx.x) % ranks, number = blockIdx.x / ranks;
  const size_t first = width / ranks * target + min(target, width % ranks);
  const size_t columns = width / ranks + (target < width % ranks);
  const size_t down = (rows + TILE - 1) / TILE;
  const size_t top = number % down * TILE, left = number / down * TILE;

  // load a square of 4 x 4 words: 16 lanes load 256 contiguous bytes
  const unsigned across = threadIdx.x % CHUNKS, below = threadIdx.x / CHUNKS;
  // no words if this rank has fewer columns than others
  const unsigned wide = left < columns ? unsigned(min(columns - left, size_t(TILE))) : 0;
  const unsigned high = unsigned(min(rows - top, size_t(TILE)));
  const unsigned columns_here = 4 * across < wide ? wide - 4 * across : 0;  // of the square
  uint4 row[4] = {};
  if (width % 4 == 0 && first % 4 == 0) {
#pragma unroll
    for (unsigned k = 0; k < 4; ++k) {
      const unsigned* const from = in + (first_row + top + 4 * below + k) * width + first + left + 4 * across;
      if (columns_here > 0 && 4 * below + k < high) row[k] = *reinterpret_cast<const uint4*>(from);
    }
  } else {
    for (unsigned k = 0; k < 4; ++k) {
      const unsigned* const from = in + (first_row + top + 4 * below + k) * width + first + left + 4 * across;
      if (4 * below + k >= high) continue;
      if (columns_here > 0) row[k].x = from[0];
      if (columns_here > 1) row[k].y = from[1];
      if (columns_here > 2) row[k].z = from[2];
      if (columns_here > 3) row[k].w = from[3];
    }
  }

  // store its columns as rows of the tile
  tile[place(4 * across, below)] = make_uint4(row[0].x, row[1].x, row[2].x, row[3].x);
  tile[place(4 * across + 1, below)] = make_uint4(row[0].y, row[1].y, row[2].y, row[3].y);
  tile[place(4 * across + 2, below)] = make_uint4(row[0].z, row[1].z, row[2].z, row[3].z);
  tile[place(4 * across + 3, below)] = make_uint4(row[0].w, row[1].w, row[2].w, row[3].w);
  __syncthreads();

  // store the tile's rows: 16 lanes store 256 contiguous bytes
  unsigned* const block = out + first_row * width + first * rows;
  const unsigned rows_here = 4 * across < high ? high - 4 * across : 0;  // of the square
  if (rows % 4 == 0) {
#pragma unroll
    for (unsigned k = 0; k < 4; ++k) {
      const unsigned x = below + k * CHUNKS;
      unsigned* const to = block + (left + x) * rows + top + 4 * across;
      if (x < wide && rows_here > 0) *reinterpret_cast<uint4*>(to) = tile[place(x, across)];
    }
  } else {
    for (unsigned k = 0; k < 4; ++k) {
      const unsigned x = below + k * CHUNKS;
      unsigned* const to = block + (left + x) * rows + top + 4 * across;
      const uint4 words = tile[place(x, across)];
      if (x >= wide) continue;
      if (rows_here > 0) to[0] = words.x;
      if (rows_here > 1) to[1] = words.y;
      if (rows_here > 2) to[2] = words.z;
      if (rows_here > 3) to[3] = words.w;
    }
  }
}
