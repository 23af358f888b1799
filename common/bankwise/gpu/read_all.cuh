// SPDX-License-Identifier: MIT-0
//
// Evicts the caches, and measures the bandwidth of the L2 cache or of DRAM: a grid-stride loop reads one word of every
// 32-byte sector of a buffer, past the L1 cache, and writes nothing.
//
// Contract
//   launch  any number of blocks of exactly BLOCK threads
//   in      n words, none of them 1
//   out     one word; never written, but the compiler cannot prove it
//   n       any, including 0
//   rounds  how often all of them are read

__global__ void __launch_bounds__(256)
    read_all(const unsigned* __restrict__ in, unsigned* __restrict__ out, size_t n, size_t rounds) {
  constexpr unsigned BLOCK = 256;  // threads per block
  constexpr unsigned SECTOR = 8;   // words; the smallest unit that GPUs fetch

  const size_t first = size_t(blockIdx.x) * BLOCK + threadIdx.x;
  unsigned seen = 0;
  for (size_t round = 0; round < rounds; ++round) {
    for (size_t i = first * SECTOR; i < n; i += size_t(gridDim.x) * BLOCK * SECTOR) seen |= __ldcg(in + i);
  }
  if (seen == 1) out[0] = seen;
}
