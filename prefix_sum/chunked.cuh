// SPDX-License-Identifier: MIT-0
//
// Exclusive prefix sum of n words, modulo 2^32, as a CPU likes it best: every thread scans one stretch of memory from
// front to back, by itself. What stands before its stretch it adds up from the sums of the others (chunk_sums.cuh). See
// chunked.cl. On a GPU it is here to be looked at beside the others, not to be used.
//
//   lanes  One in a block. 31 of a warp's 32 do not exist, and neighbouring threads read addresses far from each other,
//          so no two of them share a transaction with memory.
//   banks  None: no shared memory.
//
// Contract
//   launch  any number of blocks of exactly one thread, one-dimensional
//   in      n words; not read when n is 0
//   out     n words: out[i] = sum of in[0 .. i), modulo 2^32; may be the same memory as `in`
//   sums    one word per block, from as many blocks of chunk_sums.cuh
//   n       any, including 0

__global__ void __launch_bounds__(1)
    scan_chunked(const unsigned* in, unsigned* out, const unsigned* __restrict__ sums, size_t n) {
  constexpr unsigned WIDTH = 8;  // words at once: their loads are all under way before the first is used

  // Words of each block's stretch, but for the last ones: the same number for each, and in whole lines of a CPU's
  // cache.
  const size_t chunk = (n / gridDim.x / 16 + 1) * 16;
  size_t i = blockIdx.x * chunk;
  const size_t end = n < i + chunk ? n : i + chunk;
  unsigned before = 0;
  for (unsigned block = 0; block < blockIdx.x; ++block) before += sums[block];

  for (; i + WIDTH <= end; i += WIDTH) {
    unsigned words[WIDTH];
#pragma unroll
    for (unsigned k = 0; k < WIDTH; ++k) words[k] = in[i + k];
#pragma unroll
    for (unsigned k = 0; k < WIDTH; ++k) {
      out[i + k] = before;
      before += words[k];
    }
  }
  for (; i < end; ++i) {
    const unsigned word = in[i];
    out[i] = before;
    before += word;
  }
}
