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
//   in      columns * height words, 16-byte aligned. Rank r has the rows from first(r) up to first(r + 1) of the
//           matrix; first(r) = height / ranks * r + min(r, height % ranks). They arrive in parts: of each rank's rows
//           the first max_rows, then the next max_rows, and so on, at last the rest. Within a part, from each rank r,
//           in order, `columns` rows of those rows' words
//   out     columns x height words, row-major; 16-byte aligned; must not overlap `in`
//   first_row, max_rows  the part to unpack: of each rank's rows those from first_row on, at most max_rows, which
//           is a multiple of 4 or at least the rows of every rank
//   columns, height  any; launch no work-group if either is 0

#define THREADS 256u

__kernel __attribute__((reqd_work_group_size(THREADS, 1, 1)))
void transpose_ranks_unpack(__global const uint* restrict in, __global uint* restrict out, ulong columns, ulong height,
                            ulong ranks, ulong first_row, ulong max_rows) {
  const ulong source = get_group_id(0) % ranks, x = get_group_id(0) / ranks;
  const ulong first = height / ranks * source + min(source, height % ranks);
  const ulong rows = min(height / ranks + (source < height % ranks) - first_row, max_rows);
  // only in the last part may ranks have fewer than max_rows
  const ulong of_lower_ranks = min(source * max_rows, first - source * first_row);
  __global const uint* const from = in + (ranks * first_row + of_lower_ranks) * columns + x * rows;
  __global uint* const to = out + x * height + first + first_row;
  // copy the row, coalesced
  if (height % 4 == 0 && first % 4 == 0 && rows % 4 == 0) {
    for (ulong i = get_local_id(0); i < rows / 4; i += THREADS) {
      ((__global uint4*)to)[i] = ((__global const uint4*)from)[i];
    }
  } else {
    for (ulong i = get_local_id(0); i < rows; i += THREADS) to[i] = from[i];
  }
}
