// SPDX-License-Identifier: MIT-0
//
// Exclusive prefix sum of each tile of 2 * BLOCK words, modulo 2^32, and the total of the tile: Blelloch's two sweeps
// over a balanced tree that lies in place in shared memory.
//
//   lanes  Up: BLOCK work-items add, then half of them, down to one; the down sweep mirrors it. Busy lanes are packed.
//   banks  At step 2^k neighbouring lanes are 2^(k+1) words apart: 2-way conflicts first, twice as many at each level,
//          16-way in the middle of the tree, until fewer lanes than banks are left. padded.cl is the cure.
//
// Contract
//   launch  max(1, ceil(n / TILE)) groups of exactly BLOCK work-items, one-dimensional
//   in      n words; not read when n is 0
//   out     n words: out[i] = sum of in[first of its tile .. i), modulo 2^32; may be the same memory as `in`
//   totals  one word per group: the sum of its tile, zero if n is 0
//   n       any, including 0
// For a whole scan: scan `totals` the same way until one tile holds them all, then add each tile's offset (add_offsets.cl).

#ifndef BLOCK
#define BLOCK 256u  // work-items per group; a power of two
#endif
#define TILE (2 * BLOCK)  // words per group

__kernel __attribute__((reqd_work_group_size(BLOCK, 1, 1)))
void scan_naive(__global const uint* in, __global uint* out, __global uint* totals, ulong n) {
  __local uint tree[TILE];

  const uint tid = get_local_id(0);
  const size_t i = (size_t)get_group_id(0) * TILE + 2 * tid;
  const uint even = i < n ? in[i] : 0;
  const uint odd = i + 1 < n ? in[i + 1] : 0;
  uint before_even = 0, before_odd = 0, total = 0;

  // --- shared-memory section ---
  tree[2 * tid] = even;
  tree[2 * tid + 1] = odd;

  // Up: every right child gathers its left sibling.
  uint step = 1;
  for (uint busy = BLOCK; busy > 0; busy /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);  // outside the branch: every work-item must arrive
    if (tid < busy) {
      const uint left = step * (2 * tid + 1) - 1;
      const uint right = left + step;
      tree[right] += tree[left];
    }
    step *= 2;
  }

  // The root now holds the total. Before it stands nothing.
  if (tid == 0) {
    total = tree[TILE - 1];
    tree[TILE - 1] = 0;
  }

  // Down: a left child takes what stands before its parent, a right child that plus its left sibling.
  for (uint busy = 1; busy <= BLOCK; busy *= 2) {
    step /= 2;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (tid < busy) {
      const uint left = step * (2 * tid + 1) - 1;
      const uint right = left + step;
      const uint sibling = tree[left];
      const uint before = tree[right];
      tree[left] = before;
      tree[right] = before + sibling;
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  before_even = tree[2 * tid];
  before_odd = tree[2 * tid + 1];
  // --- end of section ---

  if (i < n) out[i] = before_even;
  if (i + 1 < n) out[i + 1] = before_odd;
  if (tid == 0) totals[get_group_id(0)] = total;
}
