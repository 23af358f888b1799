// SPDX-License-Identifier: MIT-0
//
// Microbenchmark of one shared-memory access pattern (OpenCL: local memory): cycles per 8-byte store of a warp.
// Every warp repeats the access; the host divides the elapsed cycles (OpenCL: time) by the number of accesses.
//
//   lanes  Lane l stores 8 bytes at offsets[l] + i * STEP for i = 0, 1, ..., WINDOWS * ACCESSES - 1, then starts over.
//          All lanes advance by the same step, so the compiler cannot merge accesses and the bank pattern stays the
//          same.
//   banks  STEP is a multiple of (number of banks * 4 bytes) for 16, 32 and 64 banks, so only `offsets` determines the
//          bank conflicts. Each warp stores to its own part of the tile; otherwise warps would race.
//
// Contract
//   launch   1 block of BLOCK threads
//   offsets  LANES words per pattern: the byte offset at which each lane starts, a multiple of 8, below STEP, all
//            different; IDLE for an inactive lane
//   sums     BLOCK words: the sum of the words at all WINDOWS * ACCESSES addresses of each thread, read after the last
//            access, modulo 2^32; 0 for an inactive lane
//   clocks   one 64-bit word: SM clock cycles from before the first access until after the last
//   pattern  index of the pattern in `offsets`
//   turns    number of iterations, which may be 0; each warp makes ACCESSES accesses per iteration

__global__ void __launch_bounds__(512) access_store_8(const unsigned* __restrict__ offsets, unsigned* __restrict__ sums,
                                                      long long* __restrict__ clocks, size_t pattern, size_t turns) {
  constexpr unsigned BLOCK = 512;   // threads: enough warps to keep shared memory busy
  constexpr unsigned LANES = 32;    // offsets per pattern
  constexpr unsigned ACCESSES = 4;  // per iteration
  constexpr unsigned STEP = 256;    // bytes from one access to the next
  constexpr unsigned WINDOWS = 2;   // iterations until the addresses repeat
  constexpr unsigned TILE = 32768;  // bytes: STEP for each of the WINDOWS * ACCESSES accesses of each warp
  constexpr unsigned IDLE = ~0u;
  __shared__ uint4 tile[TILE / sizeof(uint4)];
  unsigned* words = reinterpret_cast<unsigned*>(tile);
  // fill the tile with known values
  for (unsigned w = threadIdx.x; w < TILE / sizeof(unsigned); w += BLOCK) words[w] = w * 0x9E3779B1u;

  // find where the lane starts in the tile
  const unsigned offset = offsets[pattern * LANES + threadIdx.x % LANES];
  char* part = reinterpret_cast<char*>(tile) + threadIdx.x / LANES * (WINDOWS * ACCESSES * STEP);
  char* own = part + (offset == IDLE ? 0 : offset);
  const unsigned value = threadIdx.x * 0x85EBCA6Bu;
  unsigned sum = 0;

  // start the clock when the tile is full, before any warp begins
  __syncthreads();
  const long long start = clock64();
  __syncthreads();
  // timed region: repeat the access pattern
  if (offset != IDLE) {
#pragma unroll 1  // otherwise the compiler sees that the addresses repeat
    for (size_t turn = 0; turn < turns; ++turn) {
      char* at = own + turn % WINDOWS * (ACCESSES * STEP);
#pragma unroll
      for (unsigned i = 0; i < ACCESSES; ++i) {
        *reinterpret_cast<uint2*>(at + i * STEP) = make_uint2(value, value + 1);
      }
    }
  }
  // stop the clock when all warps have finished
  __syncthreads();
  if (threadIdx.x == 0) *clocks = clock64() - start;
  // add up what the tile holds at the addresses of this thread
  for (unsigned i = 0; offset != IDLE && i < WINDOWS * ACCESSES; ++i) {
    const uint2 v = *reinterpret_cast<const uint2*>(own + i * STEP);
    sum += v.x + v.y;
  }
  sums[threadIdx.x] = sum;
}
