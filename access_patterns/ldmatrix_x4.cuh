// SPDX-License-Identifier: MIT-0
//
// Loads of four 8 x 8 matrices of half words by a warp (ldmatrix.x4), over and over: what one of them takes is the time
// divided by their number.
//
// Needs: compute capability 7.5
// No OpenCL port: OpenCL C has no such instruction
// Not emulated: the instruction is inline PTX
//
//   lanes  Lane l gives the address of a row of 16 bytes, row l % 8 of matrix l / 8, and gets word l % 4 of row l / 4
//          of each matrix. From one access to the next all rows move on by STEP bytes, so that every access is a new
//          one for the compiler and the same one for the banks. Warps do not differ.
//   banks  The rows of one matrix are served together. STEP is a whole number of turns around the banks. What the banks
//          have to do is decided by the offsets alone.
//
// Contract
//   launch   1 block of BLOCK threads
//   offsets  LANES words for each pattern: where each lane's row begins, in bytes; a multiple of 16, at most
//            TILE - WINDOWS * ACCESSES * STEP - 16
//   sums     BLOCK words: all that each thread got, word by word, modulo 2^32
//   clocks   1 word of 64 bits: the SM's clocks from before the first access to behind the last
//   pattern  which of them
//   turns    how many times each warp makes ACCESSES accesses; any number

__global__ void __launch_bounds__(512)
    access_ldmatrix_x4(const unsigned* __restrict__ offsets, unsigned* __restrict__ sums,
                       long long* __restrict__ clocks, size_t pattern, size_t turns) {
#if __CUDA_ARCH__ >= 750
  constexpr unsigned BLOCK = 512;    // threads: warps enough to keep shared memory busy
  constexpr unsigned LANES = 32;     // offsets of a pattern
  constexpr unsigned ACCESSES = 16;  // in a turn
  constexpr unsigned STEP = 256;     // bytes from one access to the next
  constexpr unsigned WINDOWS = 2;    // turns until the addresses begin again
  constexpr unsigned TILE = 18432;   // bytes
  __shared__ uint4 tile[TILE / sizeof(uint4)];
  unsigned* words = reinterpret_cast<unsigned*>(tile);
  for (unsigned w = threadIdx.x; w < TILE / sizeof(unsigned); w += BLOCK) words[w] = w * 0x9E3779B1u;

  const unsigned own =
      static_cast<unsigned>(__cvta_generic_to_shared(tile)) + offsets[pattern * LANES + threadIdx.x % LANES];
  unsigned sum = 0;

  __syncthreads();
  const long long start = clock64();
  __syncthreads();
#pragma unroll 1  // a turn is as long as its neighbours'
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
  __syncthreads();
  if (threadIdx.x == 0) *clocks = clock64() - start;
  sums[threadIdx.x] = sum;
#else
  __trap();  // compiled for a GPU that has no such instruction: stop, rather than write nothing
#endif
}
