// SPDX-License-Identifier: MIT-0
//
// Exclusive prefix sum of each tile of BLOCK words, modulo 2^32, and the total of the tile: Hillis and Steele's scan.
// Each word adds what stands 1 before it, then 2, 4, 8 ... before it, and then holds the sum of all up to itself.
//
//   lanes  All busy in every step, but for the first few, before which nothing stands: log2(BLOCK) additions a word,
//          where one would do. naive.cuh is the cure.
//   banks  Neighbouring lanes read neighbouring words at any distance: no conflict. There are two buffers in turn,
//          since a word that is read by one thread is written by another.
//
// Contract
//   launch  max(1, ceil(n / TILE)) blocks of exactly BLOCK threads, one-dimensional
//   in      n words; not read when n is 0
//   out     n words: out[i] = sum of in[first of its tile .. i), modulo 2^32; may be the same memory as `in`
//   totals  one word per block: the sum of its tile, zero if n is 0
//   n       any, including 0
// For a whole scan: scan `totals` the same way until one tile holds them all, then add each tile's offset
// (add_offsets.cuh).

__global__ void __launch_bounds__(512)
    scan_hillis_steele(const unsigned* in, unsigned* out, unsigned* totals, size_t n) {
  constexpr unsigned BLOCK = 512;   // threads per block; a power of two
  constexpr unsigned TILE = BLOCK;  // words per block
  __shared__ unsigned sums[2][TILE];

  const unsigned tid = threadIdx.x;
  const size_t i = size_t(blockIdx.x) * TILE + tid;
  const unsigned word = i < n ? in[i] : 0;
  unsigned before = 0, total = 0;

  // --- shared-memory section ---
  unsigned sum = word;
  unsigned from = 0;
  sums[from][tid] = sum;
  for (unsigned step = 1; step < TILE; step *= 2) {
    __syncthreads();  // outside the branch: every thread must arrive
    if (tid >= step) sum += sums[from][tid - step];
    from = 1 - from;
    sums[from][tid] = sum;
  }
  __syncthreads();
  before = tid > 0 ? sums[from][tid - 1] : 0;
  total = sum;  // in the last thread
  // --- end of section ---

  if (i < n) out[i] = before;
  if (tid == BLOCK - 1) totals[blockIdx.x] = total;
}
