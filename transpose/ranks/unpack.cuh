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
//   in      columns * height words, 16-byte aligned: from each rank r, in order, `columns` rows of its rows' words. It
//           has the rows from first(r) up to first(r + 1) of the matrix; first(r) = height / ranks * r +
//           min(r, height % ranks)
//   out     columns x height words, row-major; 16-byte aligned; must not overlap `in`
//   columns, height  any; launch no block if either is 0

__global__ void __launch_bounds__(256)
    transpose_ranks_unpack(const unsigned* __restrict__ in, unsigned* __restrict__ out, size_t columns, size_t height,
                           size_t ranks) {
  constexpr unsigned THREADS = 256;
  const size_t source = blockIdx.x % ranks, x = blockIdx.x / ranks;
  const size_t first = height / ranks * source + min(source, height % ranks);
  const size_t rows = height / ranks + (source < height % ranks);
  const unsigned* const from = in + first * columns + x * rows;
  unsigned* const to = out + x * height + first;
  // copy the row, coalesced
  if (height % 4 == 0 && first % 4 == 0 && rows % 4 == 0) {
    for (size_t i = threadIdx.x; i < rows / 4; i += THREADS) {
      reinterpret_cast<uint4*>(to)[i] = reinterpret_cast<const uint4*>(from)[i];
    }
  } else {
    for (size_t i = threadIdx.x; i < rows; i += THREADS) to[i] = from[i];
  }
}
