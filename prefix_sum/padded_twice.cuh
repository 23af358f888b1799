// SPDX-License-Identifier: MIT-0
//
// Blelloch scan of tiles of 2048 words without bank conflicts. The exclusive prefix sum of each tile, modulo 2^32, and
// the tile's total.
//
// Changed against padded.cuh: four times as many words, with padding after every 32 words and again after every 1024,
// so word i lies at i + i / 32 + i / 1024.
//
//   lanes  As in naive.cuh, with fewer tiles and two more tree levels per tile.
//   banks  In 1024 words, padded.cuh inserts 32 words, which shift the next word by all 32 banks. Words 1024 apart
//          would therefore share a bank again: 2-way conflicts in the five tree levels with 32 to 2 active lanes. One
//          more word of padding after every 1024 words separates them: no conflict on 32 banks. Tiles of up to 1024
//          words do not need it; use padded.cuh for them.
//
// No OpenCL port: only BLOCK and the padding differ from padded.cl
//
// Contract
//   launch  max(1, ceil(n / TILE)) blocks of exactly BLOCK threads, one-dimensional
//   in      n words; not read when n is 0
//   out     n words: out[i] = sum of in[first word of its tile .. i), modulo 2^32; may be the same memory as `in`
//   totals  one word per block: the sum of its tile, zero if n is 0
//   n       any, including 0
// To scan an array of many tiles (scan-then-propagate): scan `totals` with the same kernel until one tile holds them
// all, then add each tile's offset to its words (add_offsets_wide).

__global__ void __launch_bounds__(1024)
    scan_padded_twice(const unsigned* in, unsigned* out, unsigned* totals, size_t n) {
  constexpr unsigned BLOCK = 1024;      // threads per block; a power of two
  constexpr unsigned TILE = 2 * BLOCK;  // words per block
  constexpr unsigned BANKS = 32;        // a word of padding after every BANKS and every BANKS * BANKS words
  constexpr auto pad = [](unsigned i) { return i + i / BANKS + i / (BANKS * BANKS); };

  __shared__ unsigned tree[pad(TILE)];

  // load two consecutive words per thread; zero past the end
  const unsigned tid = threadIdx.x;
  const size_t i = size_t(blockIdx.x) * TILE + 2 * tid;
  const unsigned even = i < n ? in[i] : 0;
  const unsigned odd = i + 1 < n ? in[i + 1] : 0;
  unsigned before_even = 0, before_odd = 0, total = 0;

  // --- shared-memory section ---
  // store the words to the leaves of the tree
  tree[pad(2 * tid)] = even;
  tree[pad(2 * tid + 1)] = odd;

  // up-sweep: each right child adds its left sibling
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

  // the root holds the total; clear it for the down-sweep
  if (tid == 0) {
    total = tree[pad(TILE - 1)];
    tree[pad(TILE - 1)] = 0;
  }

  // down-sweep: each left child takes its parent's prefix, each right child that plus its left sibling's sum
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

  // read the leaves: the exclusive prefix sums
  __syncthreads();
  before_even = tree[pad(2 * tid)];
  before_odd = tree[pad(2 * tid + 1)];
  // --- end of section ---

  // store the results and the total
  if (i < n) out[i] = before_even;
  if (i + 1 < n) out[i + 1] = before_odd;
  if (tid == 0) totals[blockIdx.x] = total;
}
