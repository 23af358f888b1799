// SPDX-License-Identifier: MIT-0
//
// Hillis-Steele scan (1986, "Data Parallel Algorithms"), double-buffered in shared memory: the exclusive prefix sum of
// each tile of BLOCK words, modulo 2^32, and the tile's total. In step s = 1, 2, 4, 8 ... each thread adds to its word
// the word that is s places before it. After log2(BLOCK) steps each word holds the sum of all words up to and including
// itself.
//
//   lanes  In step s all threads are active except the first s. Each word takes log2(BLOCK) additions, where a
//          sequential scan needs one. naive.cuh is the work-efficient scan.
//   banks  In every step consecutive lanes access consecutive words: no conflict. The kernel double-buffers, because
//          one thread reads a word that another one overwrites in the same step.
//
// Contract
//   launch  max(1, ceil(n / TILE)) blocks of exactly BLOCK threads, one-dimensional
//   in      n words; not read when n is 0
//   out     n words: out[i] = sum of in[first word of its tile .. i), modulo 2^32; may be the same memory as `in`
//   totals  one word per block: the sum of its tile, zero if n is 0
//   n       any, including 0
// To scan an array of many tiles (scan-then-propagate): scan `totals` with the same kernel until one tile holds them
// all, then add each tile's offset to its words (add_offsets.cuh).

__global__ void __launch_bounds__(512)
    scan_hillis_steele(const unsigned* in, unsigned* out, unsigned* totals, size_t n) {
  constexpr unsigned BLOCK = 512;   // threads per block; a power of two
  constexpr unsigned TILE = BLOCK;  // words per block
  __shared__ unsigned sums[2][TILE];

  // load one word per thread, coalesced; zero past the end
  const unsigned tid = threadIdx.x;
  const size_t i = size_t(blockIdx.x) * TILE + tid;
  const unsigned word = i < n ? in[i] : 0;
  unsigned before = 0, total = 0;

  // --- shared-memory section ---
  // stage the words in the first buffer
  unsigned sum = word;
  unsigned from = 0;
  sums[from][tid] = sum;

  // add the word `step` places before, reading one buffer and writing the other
  for (unsigned step = 1; step < TILE; step *= 2) {
    __syncthreads();  // outside the branch: every thread must arrive
    if (tid >= step) sum += sums[from][tid - step];
    from = 1 - from;
    sums[from][tid] = sum;
  }

  // inclusive to exclusive: take the sum of the thread before
  __syncthreads();
  before = tid > 0 ? sums[from][tid - 1] : 0;
  total = sum;  // the tile's total, in the last thread
  // --- end of section ---

  // store the results, coalesced, and the total
  if (i < n) out[i] = before;
  if (tid == BLOCK - 1) totals[blockIdx.x] = total;
}
