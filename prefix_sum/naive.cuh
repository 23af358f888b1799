// SPDX-License-Identifier: MIT-0
//
// Exclusive prefix sum of each tile of 2 * BLOCK words, modulo 2^32, and the total of the tile: Blelloch's two sweeps
// over a balanced tree that lies in place in shared memory.
//
//   lanes  Up: BLOCK threads add, then half of them, down to one; the down sweep mirrors it. Busy lanes are packed.
//   banks  At step 2^k neighbouring lanes are 2^(k+1) words apart: 2-way conflicts first, twice as many at each level,
//          16-way in the middle of the tree, until fewer lanes than banks are left. padded.cuh is the cure.
//
// Contract
//   launch  max(1, ceil(n / TILE)) blocks of exactly BLOCK threads, one-dimensional
//   in      n words; not read when n is 0
//   out     n words: out[i] = sum of in[first of its tile .. i), modulo 2^32; may be the same memory as `in`
//   totals  one word per block: the sum of its tile, zero if n is 0
//   n       any, including 0
// For a whole scan: scan `totals` the same way until one tile holds them all, then add each tile's offset
// (add_offsets.cuh).

__global__ void __launch_bounds__(256) scan_naive(const unsigned* in, unsigned* out, unsigned* totals, size_t n) {
  constexpr unsigned BLOCK = 256;       // threads per block; a power of two
  constexpr unsigned TILE = 2 * BLOCK;  // words per block
  __shared__ unsigned tree[TILE];

  const unsigned tid = threadIdx.x;
  const size_t i = size_t(blockIdx.x) * TILE + 2 * tid;
  const unsigned even = i < n ? in[i] : 0;
  const unsigned odd = i + 1 < n ? in[i + 1] : 0;
  unsigned before_even = 0, before_odd = 0, total = 0;

  // --- shared-memory section ---
  tree[2 * tid] = even;
  tree[2 * tid + 1] = odd;

  // Up: every right child gathers its left sibling.
  unsigned step = 1;
  for (unsigned busy = BLOCK; busy > 0; busy /= 2) {
    __syncthreads();  // outside the branch: every thread must arrive
    if (tid < busy) {
      const unsigned left = step * (2 * tid + 1) - 1;
      const unsigned right = left + step;
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
  for (unsigned busy = 1; busy <= BLOCK; busy *= 2) {
    step /= 2;
    __syncthreads();
    if (tid < busy) {
      const unsigned left = step * (2 * tid + 1) - 1;
      const unsigned right = left + step;
      const unsigned sibling = tree[left];
      const unsigned before = tree[right];
      tree[left] = before;
      tree[right] = before + sibling;
    }
  }
  __syncthreads();
  before_even = tree[2 * tid];
  before_odd = tree[2 * tid + 1];
  // --- end of section ---

  if (i < n) out[i] = before_even;
  if (i + 1 < n) out[i + 1] = before_odd;
  if (tid == 0) totals[blockIdx.x] = total;
}
