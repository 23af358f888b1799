// SPDX-License-Identifier: MIT-0
//
// Microbenchmark of shared-memory loads: clock cycles per load of 1, 2, 4, 8 or 16 bytes per lane, with any bank
// conflicts. Every warp repeats one access pattern; the host divides the elapsed cycles by the number of accesses.
//
// Kernels: load_1, load_2, load_4, load_8, load_16
//
//   lanes  Lane l loads a value at offsets[l] + i * STEP for i = 0, 1, ..., WINDOWS * ACCESSES - 1, then starts over.
//          All lanes advance by the same step, so the compiler cannot merge accesses and the bank pattern stays the
//          same. All warps use the same addresses.
//   banks  STEP is a multiple of (number of banks * 4 bytes) for 16, 32 and 64 banks, so only `offsets` determines the
//          bank conflicts.
//
// Contract
//   launch   1 block of exactly BLOCK threads
//   offsets  LANES words per pattern: the byte offset at which each lane starts, a multiple of the value's size, so
//            that the value at offset + WINDOWS * ACCESSES * STEP lies in the tile; IDLE for an inactive lane
//   sums     BLOCK words: the sum of all bytes (load_1), half words (load_2) or words that each thread loaded, modulo
//            2^32; 0 for an inactive lane
//   clocks   one 64-bit word: SM clock cycles from before the first access until after the last
//   pattern  index of the pattern in `offsets`
//   turns    number of iterations, which may be 0; each warp makes ACCESSES accesses per iteration

namespace access_load_detail {

constexpr unsigned BLOCK = 512;    // threads: enough warps to keep shared memory busy
constexpr unsigned LANES = 32;     // offsets per pattern
constexpr unsigned ACCESSES = 16;  // per iteration
constexpr unsigned STEP = 256;     // bytes from one access to the next
constexpr unsigned WINDOWS = 2;    // iterations until the addresses repeat
constexpr unsigned TILE = 18432;   // bytes
constexpr unsigned IDLE = ~0u;

static __device__ __forceinline__ unsigned sum_of(unsigned v) { return v; }
static __device__ __forceinline__ unsigned sum_of(uint2 v) { return v.x + v.y; }
static __device__ __forceinline__ unsigned sum_of(uint4 v) { return v.x + v.y + v.z + v.w; }

template <class Value>
static __device__ __forceinline__ void repeat(const unsigned* __restrict__ offsets, unsigned* __restrict__ sums,
                                              long long* __restrict__ clocks, size_t pattern, size_t turns) {
  __shared__ uint4 tile[TILE / sizeof(uint4)];
  unsigned* words = reinterpret_cast<unsigned*>(tile);
  // fill the tile with known values
  for (unsigned w = threadIdx.x; w < TILE / sizeof(unsigned); w += BLOCK) words[w] = w * 0x9E3779B1u;

  // find where the lane starts in the tile
  const unsigned offset = offsets[pattern * LANES + threadIdx.x % LANES];
  const char* own = reinterpret_cast<const char*>(tile) + (offset == IDLE ? 0 : offset);
  unsigned sum = 0;

  // start the clock when the tile is full, before any warp begins
  __syncthreads();
  const long long start = clock64();
  __syncthreads();
  // timed region: repeat the access pattern
  if (offset != IDLE) {
#pragma unroll 1  // otherwise the compiler sees that the addresses repeat
    for (size_t turn = 0; turn < turns; ++turn) {
      const char* at = own + turn % WINDOWS * (ACCESSES * STEP);
#pragma unroll
      for (unsigned i = 0; i < ACCESSES; ++i) sum += sum_of(*reinterpret_cast<const Value*>(at + i * STEP));
    }
  }
  // stop the clock when all warps have finished
  __syncthreads();
  if (threadIdx.x == 0) *clocks = clock64() - start;
  // write the sum, which the host verifies
  sums[threadIdx.x] = sum;
}

}  // namespace access_load_detail

#define ACCESS_LOAD(kernel, Value)                                                                              \
  __global__ void __launch_bounds__(access_load_detail::BLOCK)                                                  \
      kernel(const unsigned* __restrict__ offsets, unsigned* __restrict__ sums, long long* __restrict__ clocks, \
             size_t pattern, size_t turns) {                                                                    \
    access_load_detail::repeat<Value>(offsets, sums, clocks, pattern, turns);                                   \
  }

ACCESS_LOAD(access_load_1, unsigned char)
ACCESS_LOAD(access_load_2, unsigned short)
ACCESS_LOAD(access_load_4, unsigned)
ACCESS_LOAD(access_load_8, uint2)
ACCESS_LOAD(access_load_16, uint4)
#undef ACCESS_LOAD
