// SPDX-License-Identifier: MIT-0
//
// Sums along chains of cells in shared memory, and how much the other chains of the same warp sum up to, modulo 2^32.
//
//   lanes  Each follows its own chain, and a chain's length depends on the data: the warp thins out until the last lane
//          has arrived. Then they meet, and a tree of shuffles adds them up.
//   banks  Where a chain's next cell lies depends on the data: lanes meet in a bank by chance, fewer and fewer of them.
//
// Contract
//   launch  any number of blocks of BLOCK threads, one-dimensional
//   in      SLICE words per block: CELLS cells, from word STARTS on the chains' first cells, modulo CELLS. A cell's
//           word is its value; the next cell of its chain is 1 + word % LONGEST further on; the chain ends past the
//           last cell
//   out     CHAINS words per block: the sum of 31 chains, those of a warp without the one that the word belongs to

__global__ void __launch_bounds__(256) more_warp_reduce(const unsigned* __restrict__ in, unsigned* __restrict__ out) {
  constexpr unsigned BLOCK = 256;        // threads
  constexpr unsigned LANES = 32;         // of a warp
  constexpr unsigned SLICE = 4096;       // words of input per block
  constexpr unsigned CELLS = 512;        // in shared memory
  constexpr unsigned STARTS = 1024;      // where the first cells' numbers begin
  constexpr unsigned CHAINS = 1024;      // a thread follows several, one after the other
  constexpr unsigned LONGEST = 31;       // step from cell to cell
  constexpr unsigned ALL = 0xFFFFFFFFu;  // lanes that take part in a shuffle
  __shared__ unsigned values[CELLS];
  __shared__ unsigned next[CELLS];
  __shared__ unsigned totals[BLOCK / LANES];

  const unsigned warp = threadIdx.x / LANES, lane = threadIdx.x % LANES;
  const unsigned* from = in + size_t(blockIdx.x) * SLICE;
  unsigned* to = out + size_t(blockIdx.x) * CHAINS;

  for (unsigned first = 0; first < CELLS; first += BLOCK) {
    const unsigned cell = first + threadIdx.x;
    const unsigned word = from[cell];
    values[cell] = word;
    next[cell] = cell + 1 + word % LONGEST;
  }
  __syncthreads();

  for (unsigned first = 0; first < CHAINS; first += BLOCK) {
    const unsigned chain = first + threadIdx.x;
    unsigned sum = 0;
    for (unsigned cell = from[STARTS + chain] % CELLS; cell < CELLS; cell = next[cell]) sum += values[cell];
    __syncwarp();  // those with short chains wait here

    unsigned total = sum;
    for (unsigned distance = LANES / 2; distance > 0; distance /= 2) total += __shfl_down_sync(ALL, total, distance);
    if (lane == 0) totals[warp] = total;
    __syncwarp();
    to[chain] = totals[warp] - sum;
    __syncwarp();  // before the first lane tells the next total
  }
}
