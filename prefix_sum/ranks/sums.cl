// SPDX-License-Identifier: MIT-0
//
// First launch of a prefix sum on several devices (reduce-then-scan): the sum of each work-group's chunk of this
// device's words, modulo 2^32. Then come offsets.cl, an exchange of the devices' totals, and chunks.cl.
//
//   lanes  DRAM-bound: coalesced 16-byte loads. Each work-group reads its own consecutive words, from front to back.
//          Without warp shuffles, a tree in local memory adds the work-items' sums.
//   banks  The active work-items of the tree access consecutive words: no conflict.
//
// Contract
//   launch  any number of work-groups of exactly BLOCK work-items, one-dimensional, but at most ceil(n / TILE), and at
//           least one; chunks.cl must have the same number
//   in      n words, 16-byte aligned; not read when n is 0
//   sums    one word per work-group: the sum of the tiles from tiles * g / groups up to tiles * (g + 1) / groups
//   n       any, including 0

#define BLOCK 512u           // work-items per work-group; a power of two
#define TILE (16u * BLOCK)   // words per tile

__kernel __attribute__((reqd_work_group_size(BLOCK, 1, 1)))
void scan_ranks_sums(__global const uint* restrict in, __global uint* restrict sums, ulong n) {
  __local uint part[BLOCK];

  const uint tid = get_local_id(0);
  const ulong tiles = (n + TILE - 1) / TILE;
  const ulong first = tiles * get_group_id(0) / get_num_groups(0) * TILE;
  const ulong end = min(tiles * (get_group_id(0) + 1) / get_num_groups(0) * TILE, n);
  const ulong whole = end & ~3ul;  // words in 16-byte loads

  // the work-group's words, coalesced
  uint sum = 0;
  for (ulong i = first + 4 * tid; i < whole; i += 4 * BLOCK) {
    const uint4 words = *(__global const uint4*)(in + i);
    sum += words.x + words.y + words.z + words.w;
  }
  if (first < end && whole + tid < end) sum += in[whole + tid];  // up to three words at the end

  // a tree in local memory
  part[tid] = sum;
  for (uint active = BLOCK / 2; active > 0; active /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (tid < active) part[tid] += part[tid + active];
  }
  if (tid == 0) sums[get_group_id(0)] = part[0];
}
