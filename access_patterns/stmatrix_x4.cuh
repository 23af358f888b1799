// SPDX-License-Identifier: MIT-0
//
// Microbenchmark of one shared-memory access pattern: cycles per stmatrix.x4 of a warp.
// stmatrix.x4 stores four 8 x 8 matrices of 16-bit elements.
// Every warp repeats the access; the host divides the elapsed cycles by the number of accesses.
//
// Changed against store.cuh: the instruction is stmatrix.x4.
//
//   lanes  Lane l gives the address of one 16-byte row: row l % 8 of matrix l / 8. It stores word l % 4 of row l / 4 of
//          each matrix. From one access to the next, all rows advance by STEP bytes, as in load.cuh.
//   banks  The hardware serves the eight rows of one matrix together. Otherwise as in load.cuh. Each warp stores to its
//          own part of the tile; otherwise warps would race.
//
// Needs: compute capability 9.0
// No OpenCL port: OpenCL C has no such instruction
// Not emulated: the instruction is inline PTX
//
// Contract
//   launch   1 block of BLOCK threads
//   offsets  LANES words per pattern: the byte offset at which each lane's row starts, a multiple of 16, below STEP,
//            all different
//   sums     BLOCK words: the sum of all words in the rows at the addresses of each thread, read after the last store,
//            modulo 2^32
//   clocks, pattern, turns  as in load.cuh

__global__ void __launch_bounds__(512)
    access_stmatrix_x4(const unsigned* __restrict__ offsets, unsigned* __restrict__ sums,
                       long long* __restrict__ clocks, size_t pattern, size_t turns) {
#if __CUDA_ARCH__ >= 900
  constexpr unsigned BLOCK = 512;   // threads: enough warps to keep shared memory busy
  constexpr unsigned LANES = 32;    // offsets per pattern
  constexpr unsigned ACCESSES = 2;  // per iteration
  constexpr unsigned STEP = 512;    // bytes from one access to the next
  constexpr unsigned WINDOWS = 2;   // iterations until the addresses repeat
  constexpr unsigned TILE = 32768;  // bytes: STEP for each of the WINDOWS * ACCESSES accesses of each warp
  __shared__ uint4 tile[TILE / sizeof(uint4)];
  unsigned* words = reinterpret_cast<unsigned*>(tile);
  // fill the tile with known values
  for (unsigned w = threadIdx.x; w < TILE / sizeof(unsigned); w += BLOCK) words[w] = w * 0x9E3779B1u;

  // find where the lane starts in the tile
  const unsigned offset =
      threadIdx.x / LANES * (WINDOWS * ACCESSES * STEP) + offsets[pattern * LANES + threadIdx.x % LANES];
  const unsigned own = static_cast<unsigned>(__cvta_generic_to_shared(tile)) + offset;
  const unsigned value = threadIdx.x * 0x85EBCA6Bu;
  unsigned sum = 0;

  // start the clock when the tile is full, before any warp begins
  __syncthreads();
  const long long start = clock64();
  __syncthreads();
  // timed region: repeat the access pattern
#pragma unroll 1  // keeps all iterations the same
  for (size_t turn = 0; turn < turns; ++turn) {
    const unsigned at = own + turn % WINDOWS * (ACCESSES * STEP);
#pragma unroll
    for (unsigned i = 0; i < ACCESSES; ++i) {
      asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(at + i * STEP), "r"(value),
                   "r"(value + 1), "r"(value + 2), "r"(value + 3)
                   : "memory");
    }
  }
  // stop the clock when all warps have finished
  __syncthreads();
  if (threadIdx.x == 0) *clocks = clock64() - start;
  // add up what the tile holds at the addresses of this thread
  for (unsigned i = 0; i < WINDOWS * ACCESSES; ++i) {
    const uint4 v = tile[(offset + i * STEP) / sizeof(uint4)];
    sum += v.x + v.y + v.z + v.w;
  }
  sums[threadIdx.x] = sum;
#else
  __trap();  // this GPU has no such instruction: stop instead of writing nothing
#endif
}
