// SPDX-License-Identifier: MIT-0
//
// 16-byte loads of a warp, over and over: what one of them takes is the time divided by their number.
//
//   lanes  Lane l loads the four words at offsets[l], and then STEP bytes further on, and so on: all lanes move
//          together, so that every access is a new one for the compiler and the same one for the banks. Warps do not
//          differ.
//   banks  STEP is a whole number of turns around the banks, on 16, 32 or 64 of them. What the banks have to do is
//          decided by the offsets alone.
//
// Contract
//   launch   1 block of BLOCK threads
//   offsets  LANES words for each pattern: where each lane begins, in bytes; a multiple of 16, at most
//            TILE - WINDOWS * ACCESSES * STEP - 16, or IDLE for a lane that takes no part
//   sums     BLOCK words: all that each thread loaded, word by word, modulo 2^32; 0 for an idle lane
//   clocks   1 word of 64 bits: the SM's clocks from before the first access to behind the last
//   pattern  which of them
//   turns    how many times each warp makes ACCESSES accesses; any number

__global__ void __launch_bounds__(512) access_load_16(const unsigned* __restrict__ offsets, unsigned* __restrict__ sums,
                                                      long long* __restrict__ clocks, size_t pattern, size_t turns) {
  constexpr unsigned BLOCK = 512;    // threads: warps enough to keep shared memory busy
  constexpr unsigned LANES = 32;     // offsets of a pattern
  constexpr unsigned ACCESSES = 16;  // in a turn
  constexpr unsigned STEP = 256;     // bytes from one access to the next
  constexpr unsigned WINDOWS = 2;    // turns until the addresses begin again
  constexpr unsigned TILE = 18432;   // bytes
  constexpr unsigned IDLE = ~0u;
  __shared__ uint4 tile[TILE / sizeof(uint4)];
  unsigned* words = reinterpret_cast<unsigned*>(tile);
  for (unsigned w = threadIdx.x; w < TILE / sizeof(unsigned); w += BLOCK) words[w] = w * 0x9E3779B1u;

  const unsigned offset = offsets[pattern * LANES + threadIdx.x % LANES];
  const char* own = reinterpret_cast<const char*>(tile) + (offset == IDLE ? 0 : offset);
  unsigned sum = 0;

  __syncthreads();
  const long long start = clock64();
  __syncthreads();
  if (offset != IDLE) {
#pragma unroll 1  // or the compiler sees that the addresses come again
    for (size_t turn = 0; turn < turns; ++turn) {
      const char* at = own + turn % WINDOWS * (ACCESSES * STEP);
#pragma unroll
      for (unsigned i = 0; i < ACCESSES; ++i) {
        const uint4 v = *reinterpret_cast<const uint4*>(at + i * STEP);
        sum += v.x + v.y + v.z + v.w;
      }
    }
  }
  __syncthreads();
  if (threadIdx.x == 0) *clocks = clock64() - start;
  sums[threadIdx.x] = sum;
}
