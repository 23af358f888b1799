// SPDX-License-Identifier: MIT-0
//
// Matrix transpose across several GPUs in one launch, through peer memory: transposes this rank's rows tile by tile,
// and stores each tile straight into the memory of the GPU that will hold it. No buffer to pack into, no all-to-all, no
// unpacking: every word is read once and written once, and only words of other ranks cross the link.
//
//   link   Stores to peer memory are asynchronous, like all stores, so blocks do not wait for the link. Each row of a
//          tile is 256 contiguous bytes. Adjacent blocks go to different GPUs, so the link and the own memory work
//          together. The link is only fast for stores of 16 bytes. Where rows of the output do not begin at multiples
//          of 16 bytes, each row of a tile is therefore shifted by up to three words, so that it does.
//   lanes  As in pack.cuh.
//   banks  As in pack.cuh: no conflict. The words above a tile that shifted rows need are in a separate array.
//
// When the kernel has ended on all ranks, every rank's `out` is complete.
//
// No OpenCL port: OpenCL devices cannot access each other's memory
// Not emulated: it writes to other GPUs
//
// Contract
//   launch  on every rank: ranks * ceil(widest / TILE) * ceil((rows + shift) / TILE) blocks of THREADS threads,
//           one-dimensional; widest = ceil(width / ranks); shift = 0 if height and first_row are multiples of 4,
//           otherwise 3
//   in      rows x width words, row-major; 16-byte aligned: rows first_row up to first_row + rows of the whole matrix
//   outs    the addresses of all ranks' outputs, by rank, 16-byte aligned. Rank r holds the columns from first(r) up to
//           first(r + 1), as rows of `height` words. first(r) = width / ranks * r + min(r, width % ranks)
//   rows, width  any; launch no block if either is 0
//   height  rows of the whole matrix

namespace transpose_ranks_direct_detail {

constexpr unsigned TILE = 64;          // words along each side of a tile
constexpr unsigned CHUNKS = TILE / 4;  // of four words, per row of the tile
constexpr unsigned THREADS = CHUNKS * CHUNKS;

}  // namespace transpose_ranks_direct_detail

__global__ void __launch_bounds__(transpose_ranks_direct_detail::THREADS)
    transpose_ranks_direct(const unsigned* __restrict__ in, unsigned* const* outs, size_t rows, size_t width,
                           size_t height, size_t first_row, size_t rank, size_t ranks) {
  using namespace transpose_ranks_direct_detail;
  __shared__ uint4 tile[TILE * CHUNKS];
  __shared__ unsigned above[4][TILE];  // the four rows above the tile
  // Row x of the tile is a column of `in`.
  const auto place = [](unsigned x, unsigned chunk) { return x * CHUNKS + (chunk ^ x / 4); };

  // adjacent blocks go to different ranks; the blocks of one rank take their tiles from top to bottom
  const size_t target = (rank + blockIdx.x) % ranks, number = blockIdx.x / ranks;
  const size_t first = width / ranks * target + min(target, width % ranks);
  const size_t columns = width / ranks + (target < width % ranks);
  const bool shifted = height % 4 != 0 || first_row % 4 != 0;
  const size_t down = (rows + (shifted ? 3 : 0) + TILE - 1) / TILE;
  const size_t top = number % down * TILE, left = number / down * TILE;

  // load a square of 4 x 4 words: 16 lanes load 256 contiguous bytes
  const unsigned across = threadIdx.x % CHUNKS, below = threadIdx.x / CHUNKS;
  // no words if this rank has fewer columns than others
  const unsigned wide = left < columns ? unsigned(min(columns - left, size_t(TILE))) : 0;
  const unsigned high = top < rows ? unsigned(min(rows - top, size_t(TILE))) : 0;
  const unsigned columns_here = 4 * across < wide ? wide - 4 * across : 0;  // of the square
  uint4 row[4] = {};
  if (width % 4 == 0 && first % 4 == 0) {
#pragma unroll
    for (unsigned k = 0; k < 4; ++k) {
      const unsigned* const from = in + (top + 4 * below + k) * width + first + left + 4 * across;
      if (columns_here > 0 && 4 * below + k < high) row[k] = *reinterpret_cast<const uint4*>(from);
    }
  } else {
    for (unsigned k = 0; k < 4; ++k) {
      const unsigned* const from = in + (top + 4 * below + k) * width + first + left + 4 * across;
      if (4 * below + k >= high) continue;
      if (columns_here > 0) row[k].x = from[0];
      if (columns_here > 1) row[k].y = from[1];
      if (columns_here > 2) row[k].z = from[2];
      if (columns_here > 3) row[k].w = from[3];
    }
  }
  if (shifted) {
    const unsigned x = threadIdx.x % TILE, k = threadIdx.x / TILE;
    const bool exists = top > 0 && top + k < rows + 4 && x < wide;
    above[k][x] = exists ? in[(top + k - 4) * width + first + left + x] : 0;
  }

  // store its columns as rows of the tile
  tile[place(4 * across, below)] = make_uint4(row[0].x, row[1].x, row[2].x, row[3].x);
  tile[place(4 * across + 1, below)] = make_uint4(row[0].y, row[1].y, row[2].y, row[3].y);
  tile[place(4 * across + 2, below)] = make_uint4(row[0].z, row[1].z, row[2].z, row[3].z);
  tile[place(4 * across + 3, below)] = make_uint4(row[0].w, row[1].w, row[2].w, row[3].w);
  __syncthreads();

  // store the tile's rows, in the target's memory: 16 lanes store 256 contiguous bytes
  unsigned* const out = outs[target] + first_row;
  if (!shifted && rows % 4 == 0) {
#pragma unroll
    for (unsigned k = 0; k < 4; ++k) {
      const unsigned x = below + k * CHUNKS;
      unsigned* const to = out + (left + x) * height + top + 4 * across;
      if (x < wide && 4 * across < high) *reinterpret_cast<uint4*>(to) = tile[place(x, across)];
    }
  } else {
    for (unsigned k = 0; k < 4; ++k) {
      const unsigned x = below + k * CHUNKS;
      unsigned* const to = out + (left + x) * height + top;
      const unsigned shift = unsigned((first_row + (left + x) * height) % 4);  // words from a multiple of 16 bytes
      const uint4 words = tile[place(x, across)];
      // the four words before these
      uint4 before;
      before.y = __shfl_up_sync(0xFFFFFFFF, words.y, 1, CHUNKS);
      before.z = __shfl_up_sync(0xFFFFFFFF, words.z, 1, CHUNKS);
      before.w = __shfl_up_sync(0xFFFFFFFF, words.w, 1, CHUNKS);
      if (across == 0 && shifted) before = make_uint4(0, above[1][x], above[2][x], above[3][x]);
      const uint4 four = shift == 0   ? words
                         : shift == 1 ? make_uint4(before.w, words.x, words.y, words.z)
                         : shift == 2 ? make_uint4(before.z, before.w, words.x, words.y)
                                      : make_uint4(before.y, before.z, before.w, words.x);
      if (x >= wide) continue;
      // these are the words of the rows top + begin up to top + begin + 4; some may not exist
      const int begin = int(4 * across) - int(shift);
      if ((top > 0 || begin >= 0) && top + begin + 4 <= rows) {
        __stcs(reinterpret_cast<uint4*>(to + begin), four);
        continue;
      }
      const auto store = [&](int i, unsigned word) {
        if ((top > 0 || i >= 0) && top + i < rows) to[i] = word;
      };
      store(begin, four.x);
      store(begin + 1, four.y);
      store(begin + 2, four.z);
      store(begin + 3, four.w);
    }
  }
}
