// SPDX-License-Identifier: MIT-0
//
// The tree of padded.cuh over a tile of 2048 words, whose padding needs padding: word i lies at i + i / 32 + i / 1024.
//
//   lanes  As in naive.cuh: fewer tiles, and two more levels in each.
//   banks  1024 words take in 32 words of padding, once around the banks: from there on words that are 1024 apart would
//          share a bank again, 2-way in the five levels of 32 to 2 lanes. One word more after every 1024 parts them: no
//          conflict on 32 banks. In tiles of up to 1024 words it would change nothing, and padded.cuh is enough.
//
// Contract
//   launch  max(1, ceil(n / TILE)) blocks of exactly BLOCK threads, one-dimensional
//   in      n words; not read when n is 0
//   out     n words: out[i] = sum of in[first of its tile .. i), modulo 2^32; may be the same memory as `in`
//   totals  one word per block: the sum of its tile, zero if n is 0
//   n       any, including 0
// For a whole scan: scan `totals` the same way until one tile holds them all, then add each tile's offset
// (add_offsets_wide.cuh).

__global__ void __launch_bounds__(1024)
    scan_padded_twice(const unsigned* in, unsigned* out, unsigned* totals, size_t n) {
  constexpr unsigned BLOCK = 1024;      // threads per block; a power of two
  constexpr unsigned TILE = 2 * BLOCK;  // words per block
  constexpr unsigned BANKS = 32;        // one word of padding after so many, and one after so many of these
  constexpr auto pad = [](unsigned i) { return i + i / BANKS + i / (BANKS * BANKS); };

  __shared__ unsigned tree[pad(TILE)];

  const unsigned tid = threadIdx.x;
  const size_t i = size_t(blockIdx.x) * TILE + 2 * tid;
  const unsigned even = i < n ? in[i] : 0;
  const unsigned odd = i + 1 < n ? in[i + 1] : 0;
  unsigned before_even = 0, before_odd = 0, total = 0;

  // --- shared-memory section ---
  tree[pad(2 * tid)] = even;
  tree[pad(2 * tid + 1)] = odd;

  // Up: every right child gathers its left sibling.
  unsigned step = 1;
  for (unsigned busy = BLOCK; busy > 0; busy /= 2) {
    __syncthreads();  // outside the branch: every thread must arrive
    if (tid < busy) {
      const unsigned left = step * (2 * tid + 1) - 1;
      const unsigned right = left + step;
      tree[pad(right)] += tree[pad(left)];
    }
    step *= 2;
  }

  // The root now holds the total. Before it stands nothing.
  if (tid == 0) {
    total = tree[pad(TILE - 1)];
    tree[pad(TILE - 1)] = 0;
  }

  // Down: a left child takes what stands before its parent, a right child that plus its left sibling.
  for (unsigned busy = 1; busy <= BLOCK; busy *= 2) {
    step /= 2;
    __syncthreads();
    if (tid < busy) {
      const unsigned left = step * (2 * tid + 1) - 1;
      const unsigned right = left + step;
      const unsigned sibling = tree[pad(left)];
      const unsigned before = tree[pad(right)];
      tree[pad(left)] = before;
      tree[pad(right)] = before + sibling;
    }
  }
  __syncthreads();
  before_even = tree[pad(2 * tid)];
  before_odd = tree[pad(2 * tid + 1)];
  // --- end of section ---

  if (i < n) out[i] = before_even;
  if (i + 1 < n) out[i + 1] = before_odd;
  if (tid == 0) totals[blockIdx.x] = total;
}
