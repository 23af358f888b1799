// SPDX-License-Identifier: MIT-0
//
// Blelloch scan of tiles of 2048 words without bank conflicts. The exclusive prefix sum of each tile, modulo 2^32, and
// the tile's total.
//
// padded_twice.cuh explains what it changes, its lanes and its banks.
//
// Contract
//   launch  max(1, ceil(n / TILE)) groups of exactly BLOCK work-items, one-dimensional
//   in      n words; not read when n is 0
//   out     n words: out[i] = sum of in[first word of its tile .. i), modulo 2^32; may be the same memory as `in`
//   totals  one word per group: the sum of its tile, zero if n is 0
//   n       any, including 0
// To scan an array of many tiles (scan-then-propagate): scan `totals` with the same kernel until one tile holds them
// all, then add each tile's offset to its words (add_offsets_wide).

#define BLOCK 1024u  // work-items per group; a power of two
#define TILE (2 * BLOCK)  // words per group
#define BANKS 32u         // a word of padding after every BANKS and every BANKS * BANKS words
#define PAD(i) ((i) + (i) / BANKS + (i) / (BANKS * BANKS))

__kernel __attribute__((reqd_work_group_size(BLOCK, 1, 1)))
void scan_padded_twice(__global const uint* in, __global uint* out, __global uint* totals, ulong n) {
  __local uint tree[PAD(TILE)];

  // load two consecutive words per work-item; zero past the end
  const uint tid = get_local_id(0);
  const size_t i = (size_t)get_group_id(0) * TILE + 2 * tid;
  const uint even = i < n ? in[i] : 0;
  const uint odd = i + 1 < n ? in[i + 1] : 0;
  uint before_even = 0, before_odd = 0, total = 0;

  // --- shared-memory section ---
  // store the words to the leaves of the tree
  tree[PAD(2 * tid)] = even;
  tree[PAD(2 * tid + 1)] = odd;

  // up-sweep: each right child adds its left sibling
  uint step = 1;
  for (uint busy = BLOCK; busy > 0; busy /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);  // outside the branch: every work-item must arrive
    if (tid < busy) {
      const uint left = step * (2 * tid + 1) - 1;
      const uint right = left + step;
      tree[PAD(right)] += tree[PAD(left)];
    }
    step *= 2;
  }

  // the root holds the total; clear it for the down-sweep
  if (tid == 0) {
    total = tree[PAD(TILE - 1)];
    tree[PAD(TILE - 1)] = 0;
  }

  // down-sweep: each left child takes its parent's prefix, each right child that plus its left sibling's sum
  for (uint busy = 1; busy <= BLOCK; busy *= 2) {
    step /= 2;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (tid < busy) {
      const uint left = step * (2 * tid + 1) - 1;
      const uint right = left + step;
      const uint sibling = tree[PAD(left)];
      const uint before = tree[PAD(right)];
      tree[PAD(left)] = before;
      tree[PAD(right)] = before + sibling;
    }
  }

  // read the leaves: the exclusive prefix sums
  barrier(CLK_LOCAL_MEM_FENCE);
  before_even = tree[PAD(2 * tid)];
  before_odd = tree[PAD(2 * tid + 1)];
  // --- end of section ---

  // store the results and the total
  if (i < n) out[i] = before_even;
  if (i + 1 < n) out[i + 1] = before_odd;
  if (tid == 0) totals[get_group_id(0)] = total;
}
