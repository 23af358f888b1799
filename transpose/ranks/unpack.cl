// SPDX-License-Identifier: MIT-0
//
// Matrix transpose across several devices, last launch of pack, all-to-all, unpack: puts the blocks that the ranks have
// sent side by side. A copy with another row length.
//
//   lanes  Coalesced: a work-group copies one row of one received block, 16 bytes per lane where both sides begin at a
//          multiple of 16 bytes, otherwise single words.
//   banks  No local memory.
//
// Contract
//   launch  columns * ranks work-groups of THREADS work-items, one-dimensional
//   in      columns * height words, 16-byte aligned: from each rank r, in order, `columns` rows of its rows' words. It
//           has the rows from first(r) up to first(r + 1) of the matrix; first(r) = height / ranks * r +
//           min(r, height % ranks)
//   out     columns x height words, row-major; 16-byte aligned; must not overlap `in`
//   columns, height  any; launch no work-group if either is 0

#define THREADS 256u

__kernel __attribute__((reqd_work_group_size(THREADS, 1, 1)))
void transpose_ranks_unpack(__global const uint* restrict in, __global uint* restrict out, ulong columns, ulong height,
                            ulong ranks) {
  const ulong source = get_group_id(0) % ranks, x = get_group_id(0) / ranks;
  const ulong first = height / ranks * source + min(source, height % ranks);
  const ulong rows = height / ranks + (source < height % ranks);
  __global const uint* const from = in + first * columns + x * rows;
  __global uint* const to = out + x * height + first;
  // copy the row, coalesced
  if (height % 4 == 0 && first % 4 == 0 && rows % 4 == 0) {
    for (ulong i = get_local_id(0); i < rows / 4; i += THREADS) {
      ((__global uint4*)to)[i] = ((__global const uint4*)from)[i];
    }
  } else {
    for (ulong i = get_local_id(0); i < rows; i += THREADS) to[i] = from[i];
  }
}
