// SPDX-License-Identifier: MIT-0
//
// Replaces every byte of a block's words by a table's, as ciphers and picture formats do. The table lies in shared
// memory as bytes.
//
//   lanes  A thread stores one entry, then takes every BLOCK-th word.
//   banks  Stored, four lanes share a word: no conflict. Looked up, the data decide: 64 words hold the whole table, so
//          that lanes meet in a bank, and often in one word, by chance.
//
// Contract
//   launch  any number of blocks of ENTRIES threads, one-dimensional
//   in      SLICE words per block: from word TEXT on the WORDS words to replace, before them the table, the lowest byte
//           of ENTRIES words
//   out     WORDS words per block

__global__ void __launch_bounds__(256) more_bytes(const unsigned* __restrict__ in, unsigned* __restrict__ out) {
  constexpr unsigned ENTRIES = 256;  // of the table; threads
  constexpr unsigned SLICE = 4096;   // words of input per block
  constexpr unsigned TEXT = 1024;    // where the words begin
  constexpr unsigned WORDS = 1024;
  __shared__ unsigned char table[ENTRIES];

  const unsigned tid = threadIdx.x;
  const unsigned* from = in + size_t(blockIdx.x) * SLICE;
  unsigned* to = out + size_t(blockIdx.x) * WORDS;

  table[tid] = static_cast<unsigned char>(from[tid]);
  __syncthreads();
  for (unsigned i = 0; i < WORDS; i += ENTRIES) {
    const unsigned word = from[TEXT + i + tid];
    unsigned replaced = 0;
#pragma unroll
    for (unsigned shift = 0; shift < 32; shift += 8) replaced |= unsigned(table[word >> shift & 255]) << shift;
    to[i + tid] = replaced;
  }
}
