// SPDX-License-Identifier: MIT-0
//
// Reduce-then-scan for CPUs, second launch (chunk_sums.cuh is the first): the exclusive prefix sum of n words, modulo
// 2^32. Each thread scans one chunk of consecutive words sequentially. It starts from the sum of the chunks before its
// own. Use chunked.cl on a CPU; this CUDA version exists for comparison with the GPU kernels.
//
//   lanes  One thread per block, so a warp has 1 of its 32 lanes. Threads of neighbouring blocks read addresses far
//          apart, so no two threads share a memory transaction: the accesses are not coalesced.
//   banks  No shared memory.
//
// Contract
//   launch  any number of blocks of exactly one thread, one-dimensional
//   in      n words; not read when n is 0
//   out     n words: out[i] = sum of in[0 .. i), modulo 2^32; may be the same memory as `in`
//   sums    one word per block, from a launch of chunk_sums.cuh with as many blocks
//   n       any, including 0

__global__ void __launch_bounds__(1)
    scan_chunked(const unsigned* in, unsigned* out, const unsigned* __restrict__ sums, size_t n) {
  constexpr unsigned WIDTH = 8;  // words per iteration, with all their loads in flight before the first use

  // Words per block, a whole number of cache lines of a CPU. The last blocks may have fewer.
  const size_t chunk = (n / gridDim.x / 16 + 1) * 16;
  size_t i = blockIdx.x * chunk;
  const size_t end = n < i + chunk ? n : i + chunk;

  // add up the sums of the chunks before this one
  unsigned before = 0;
  for (unsigned block = 0; block < blockIdx.x; ++block) before += sums[block];

  // scan the chunk, WIDTH words per iteration
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

  // scan the remaining words
  for (; i < end; ++i) {
    const unsigned word = in[i];
    out[i] = before;
    before += word;
  }
}
