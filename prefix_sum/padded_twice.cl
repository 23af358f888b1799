// SPDX-License-Identifier: MIT-0
//
// The tree of padded.cl over a tile of 2048 words, whose padding needs padding: word i lies at i + i / 32 + i / 1024.
//
//   lanes  As in naive.cl: fewer tiles, and two more levels in each.
//   banks  1024 words take in 32 words of padding, once around the banks: from there on words that are 1024 apart would
//          share a bank again, 2-way in the five levels of 32 to 2 lanes. One word more after every 1024 parts them: no
//          conflict on 32 banks. In tiles of up to 1024 words it would change nothing, and padded.cl is enough.
//
// Contract
//   launch  max(1, ceil(n / TILE)) groups of exactly BLOCK work-items, one-dimensional
//   in      n words; not read when n is 0
//   out     n words: out[i] = sum of in[first of its tile .. i), modulo 2^32; may be the same memory as `in`
//   totals  one word per group: the sum of its tile, zero if n is 0
//   n       any, including 0
// For a whole scan: scan `totals` the same way until one tile holds them all, then add each tile's offset
// (add_offsets_wide.cl).

#ifndef BLOCK
#define BLOCK 1024u  // work-items per group; a power of two
#endif
#define TILE (2 * BLOCK)  // words per group
#define BANKS 32u         // one word of padding after so many, and one after so many of these
#define PAD(i) ((i) + (i) / BANKS + (i) / (BANKS * BANKS))

__kernel __attribute__((reqd_work_group_size(BLOCK, 1, 1)))
void scan_padded_twice(__global const uint* in, __global uint* out, __global uint* totals, ulong n) {
  __local uint tree[PAD(TILE)];

  const uint tid = get_local_id(0);
  const size_t i = (size_t)get_group_id(0) * TILE + 2 * tid;
  const uint even = i < n ? in[i] : 0;
  const uint odd = i + 1 < n ? in[i + 1] : 0;
  uint before_even = 0, before_odd = 0, total = 0;

  // --- shared-memory section ---
  tree[PAD(2 * tid)] = even;
  tree[PAD(2 * tid + 1)] = odd;

  // Up: every right child gathers its left sibling.
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

  // The root now holds the total. Before it stands nothing.
  if (tid == 0) {
    total = tree[PAD(TILE - 1)];
    tree[PAD(TILE - 1)] = 0;
  }

  // Down: a left child takes what stands before its parent, a right child that plus its left sibling.
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
  barrier(CLK_LOCAL_MEM_FENCE);
  before_even = tree[PAD(2 * tid)];
  before_odd = tree[PAD(2 * tid + 1)];
  // --- end of section ---

  if (i < n) out[i] = before_even;
  if (i + 1 < n) out[i + 1] = before_odd;
  if (tid == 0) totals[get_group_id(0)] = total;
}
