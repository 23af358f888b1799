// SPDX-License-Identifier: MIT-0
//
// Matrix transpose across several GPUs, last launch of pack, all-to-all, unpack: puts the blocks that the ranks have
// sent side by side. A copy with another row length.
//
//   lanes  Coalesced: a block of threads copies one row of one received block, 16 bytes per lane where both sides begin
//          at a multiple of 16 bytes, otherwise single words.
//   banks  No shared memory.
//
// Contract
//   launch  columns * ranks blocks of THREADS threads, one-dimensional
//   in      columns * height words, 16-byte aligned. Rank r has the rows from first(r) up to first(r + 1) of the
//           matrix; first(r) = height / ranks * r + min(r, height % ranks). They arrive in parts: of each rank's rows
//           the first max_rows, then the next max_rows, and so on, at last the rest. Within a part, from each rank r,
//           in order, `columns` rows of those rows' words
//   out     columns x height words, row-major; 16-byte aligned; must not overlap `in`
//   first_row, max_rows  the part to unpack: of each rank's rows those from first_row on, at most max_rows, which
//           is a multiple of 4 or at least the rows of every rank
//   columns, height  any; launch no block if either is 0

__global__ void __launch_bounds__(256)
    transpose_ranks_unpack(const unsigned* __restrict__ in, unsigned* __restrict__ out, size_t columns, size_t height,
                           size_t ranks, size_t first_row, size_t max_rows) {
  constexpr unsigned THREADS = 256;
  const size_t source = blockIdx.x % ranks, x = blockIdx.x / ranks;
  const size_t first = height / ranks * source + min(source, height % ranks);
  const size_t rows = min(height / ranks + (source < height % ranks) - first_row, max_rows);
  // only in the last part may ranks have fewer than max_rows
  const size_t of_lower_ranks = min(source * max_rows, first - source * first_row);
  const unsigned* const from = in + (ranks * first_row + of_lower_ranks) * columns + x * rows;
  unsigned* const to = out + x * height + first + first_row;
  // copy the row, coalesced
  if (height % 4 == 0 && first % 4 == 0 && rows % 4 == 0) {
    for (size_t i = threadIdx.x; i < rows / 4; i += THREADS) {
      reinterpret_cast<uint4*>(to)[i] = reinterpret_cast<const uint4*>(from)[i];
    }
  } else {
    for (size_t i = threadIdx.x; i < rows; i += THREADS) to[i] = from[i];
  }
}
