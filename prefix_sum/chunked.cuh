// SPDX-License-Identifier: MIT-0
//
// Reduce-then-scan for CPUs: the exclusive prefix sum of n words, modulo 2^32. In the first launch, of chunk_sums, each
// thread adds up one chunk of consecutive words. In the second, of chunked, it scans the chunk sequentially, and starts
// from the sum of the chunks before its own. Use chunked.cl on a CPU; this CUDA version exists for comparison with the
// GPU kernels.
//
// Kernels: chunk_sums, chunked
//
//   lanes  One thread per block, so a warp has 1 of its 32 lanes. Threads of neighbouring blocks read addresses far
//          apart, so no two threads share a memory transaction: the accesses are not coalesced.
//   banks  No shared memory.
//
// Contract
//   launch  any number of blocks of exactly one thread, one-dimensional; equally many in both launches
//   in      n words; not read when n is 0
//   out     n words: out[i] = sum of in[0 .. i), modulo 2^32; may be the same memory as `in`
//   sums    one word per block: the sum of its chunk (see `chunk`), 0 if it is empty
//   n       any, including 0

__global__ void __launch_bounds__(1)
    scan_chunk_sums(const unsigned* __restrict__ in, unsigned* __restrict__ sums, size_t n) {
  constexpr unsigned WIDTH = 16;  // words per iteration, each added to its own partial sum

  // Words per block, a whole number of cache lines of a CPU. The last blocks may have fewer.
  const size_t chunk = (n / gridDim.x / 16 + 1) * 16;
  size_t i = blockIdx.x * chunk;
  const size_t end = n < i + chunk ? n : i + chunk;

  // add up WIDTH words per iteration, in independent accumulators
  unsigned part[WIDTH] = {};
  for (; i + WIDTH <= end; i += WIDTH) {
#pragma unroll
    for (unsigned k = 0; k < WIDTH; ++k) part[k] += in[i + k];
  }

  // add the partial sums and the remaining words
  unsigned sum = 0;
#pragma unroll
  for (unsigned k = 0; k < WIDTH; ++k) sum += part[k];
  for (; i < end; ++i) sum += in[i];

  sums[blockIdx.x] = sum;
}

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
