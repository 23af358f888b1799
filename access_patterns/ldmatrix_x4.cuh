// SPDX-License-Identifier: MIT-0
//
// Microbenchmark of one shared-memory access pattern: cycles per ldmatrix.x4 of a warp.
// ldmatrix.x4 loads four 8 x 8 matrices of 16-bit elements.
// Every warp repeats the access; the host divides the elapsed cycles by the number of accesses.
//
// Changed against load.cuh: the instruction is ldmatrix.x4.
//
//   lanes  Lane l gives the address of one 16-byte row: row l % 8 of matrix l / 8. It receives word l % 4 of row l / 4
//          of each matrix. From one access to the next, all rows advance by STEP bytes, as in load.cuh.
//   banks  The hardware serves the eight rows of one matrix together. Otherwise as in load.cuh.
//
// Needs: compute capability 7.5
// No OpenCL port: OpenCL C has no such instruction
// Not emulated: the instruction is inline PTX
//
// Contract
//   launch   1 block of BLOCK threads
//   offsets  LANES words per pattern: the byte offset at which each lane's row starts, a multiple of 16, at most
//            TILE - WINDOWS * ACCESSES * STEP - 16
//   sums     BLOCK words: the sum of all words that each thread loaded, modulo 2^32
//   clocks, pattern, turns  as in load.cuh

__global__ void __launch_bounds__(512)
    access_ldmatrix_x4(const unsigned* __restrict__ offsets, unsigned* __restrict__ sums,
                       long long* __restrict__ clocks, size_t pattern, size_t turns) {
#if __CUDA_ARCH__ >= 750
  constexpr unsigned BLOCK = 512;    // threads: enough warps to keep shared memory busy
  constexpr unsigned LANES = 32;     // offsets per pattern
  constexpr unsigned ACCESSES = 16;  // per iteration
  constexpr unsigned STEP = 256;     // bytes from one access to the next
  constexpr unsigned WINDOWS = 2;    // iterations until the addresses repeat
  constexpr unsigned TILE = 18432;   // bytes
  __shared__ uint4 tile[TILE / sizeof(uint4)];
  unsigned* words = reinterpret_cast<unsigned*>(tile);
  // fill the tile with known values
  for (unsigned w = threadIdx.x; w < TILE / sizeof(unsigned); w += BLOCK) words[w] = w * 0x9E3779B1u;

  // find where the lane starts in the tile
  const unsigned own =
      static_cast<unsigned>(__cvta_generic_to_shared(tile)) + offsets[pattern * LANES + threadIdx.x % LANES];
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
      uint4 v;
      asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                   : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                   : "r"(at + i * STEP)
                   : "memory");
      sum += v.x + v.y + v.z + v.w;
    }
  }
  // stop the clock when all warps have finished
  __syncthreads();
  if (threadIdx.x == 0) *clocks = clock64() - start;
  // write the sum, which the host verifies
  sums[threadIdx.x] = sum;
#else
  __trap();  // this GPU has no such instruction: stop instead of writing nothing
#endif
}
