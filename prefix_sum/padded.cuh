// SPDX-License-Identifier: MIT-0
//
// The tree of naive.cuh with one word of padding after every 32: word i lies at i + i / 32.
//
//   lanes  As in naive.cuh.
//   banks  A stride of 2^(k+1) words takes in a padding word each time it passes 32, and so moves the next lanes on to
//          fresh banks: no conflict on 32 banks in tiles of up to 1024 words. 32 is the number of banks; the 16 of
//          older texts leaves 2-way conflicts.
//
// Contract
//   launch  max(1, ceil(n / TILE)) blocks of exactly BLOCK threads, one-dimensional
//   in      n words; not read when n is 0
//   out     n words: out[i] = sum of in[first of its tile .. i), modulo 2^32; may be the same memory as `in`
//   totals  one word per block: the sum of its tile, zero if n is 0
//   n       any, including 0
// For a whole scan: scan `totals` the same way until one tile holds them all, then add each tile's offset
// (add_offsets.cuh).

__global__ void __launch_bounds__(256) scan_padded(const unsigned* in, unsigned* out, unsigned* totals, size_t n) {
  constexpr unsigned BLOCK = 256;       // threads per block; a power of two, at most 512 for no conflict
  constexpr unsigned TILE = 2 * BLOCK;  // words per block
  constexpr unsigned BANKS = 32;        // one word of padding after so many
  constexpr auto pad = [](unsigned i) { return i + i / BANKS; };

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
