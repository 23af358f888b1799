// SPDX-License-Identifier: MIT-0
//
// Microbenchmark of shared-memory atomics: clock cycles per 32-bit atomic addition (atomicAdd), increment or
// compare-and-swap (atomicCAS) of a warp, with any bank conflicts. Every warp repeats one access pattern; the host
// divides the elapsed cycles by the number of accesses.
//
// Changed against load.cuh: the access is an atomic whose result the kernel does not use; the sums are read from the
// tile after the last access.
//
// Kernels: atomic_add, atomic_inc, atomic_cas
//
//   lanes  As in load.cuh: lane l updates the words at offsets[l] + i * STEP. All warps update the same words.
//          atomic_add adds the thread number plus 1. atomic_inc adds 1, a compile-time constant: NVIDIA's compiler then
//          emits an increment instruction. atomic_cas makes one attempt per access: the first attempt on a word finds
//          its initial value and swaps it; all later ones find the swapped value and fail.
//   banks  As in load.cuh.
//
// Contract
//   launch   1 block of exactly BLOCK threads
//   offsets  LANES words per pattern: the byte offset at which each lane starts, a multiple of 4, at most
//            TILE - WINDOWS * ACCESSES * STEP - 4; IDLE for an inactive lane
//   sums     BLOCK words: the sum of the words at all WINDOWS * ACCESSES addresses of each thread, read after the last
//            access, modulo 2^32; 0 for an inactive lane
//   clocks, pattern, turns  as in load.cuh

namespace access_atomic_detail {

constexpr unsigned BLOCK = 512;    // threads: enough warps to keep shared memory busy
constexpr unsigned LANES = 32;     // offsets per pattern
constexpr unsigned ACCESSES = 16;  // per iteration
constexpr unsigned STEP = 256;     // bytes from one access to the next
constexpr unsigned WINDOWS = 2;    // iterations until the addresses repeat
constexpr unsigned TILE = 18432;   // bytes
constexpr unsigned IDLE = ~0u;
constexpr unsigned FILLED = 0x9E3779B1u;  // times the index of a word: its initial value

// The accesses. `filled` is the initial value of the word, `number` the thread number plus 1.
static __device__ __forceinline__ void add(unsigned* word, unsigned, unsigned number) { atomicAdd(word, number); }
static __device__ __forceinline__ void increment(unsigned* word, unsigned, unsigned) { atomicAdd(word, 1u); }
static __device__ __forceinline__ void swap(unsigned* word, unsigned filled, unsigned) {
  atomicCAS(word, filled, ~filled);
}

template <void (*update)(unsigned* word, unsigned filled, unsigned number)>
static __device__ __forceinline__ void repeat(const unsigned* __restrict__ offsets, unsigned* __restrict__ sums,
                                              long long* __restrict__ clocks, size_t pattern, size_t turns) {
  __shared__ uint4 tile[TILE / sizeof(uint4)];
  unsigned* words = reinterpret_cast<unsigned*>(tile);
  // fill the tile with known values
  for (unsigned w = threadIdx.x; w < TILE / sizeof(unsigned); w += BLOCK) words[w] = w * FILLED;

  // find where the lane starts in the tile
  const unsigned offset = offsets[pattern * LANES + threadIdx.x % LANES];
  char* own = reinterpret_cast<char*>(tile) + (offset == IDLE ? 0 : offset);
  const unsigned number = threadIdx.x + 1;
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
      const unsigned filled = unsigned(at - reinterpret_cast<char*>(tile)) / sizeof(unsigned) * FILLED;
#pragma unroll
      for (unsigned i = 0; i < ACCESSES; ++i) {
        update(reinterpret_cast<unsigned*>(at + i * STEP), filled + i * (STEP / sizeof(unsigned)) * FILLED, number);
      }
    }
  }
  // stop the clock when all warps have finished
  __syncthreads();
  if (threadIdx.x == 0) *clocks = clock64() - start;
  // add up what the tile holds at the addresses of this thread
  for (unsigned i = 0; offset != IDLE && i < WINDOWS * ACCESSES; ++i) {
    sum += *reinterpret_cast<const unsigned*>(own + i * STEP);
  }
  sums[threadIdx.x] = sum;
}

}  // namespace access_atomic_detail

#define ACCESS_ATOMIC(kernel, update)                                                                           \
  __global__ void __launch_bounds__(access_atomic_detail::BLOCK)                                                \
      kernel(const unsigned* __restrict__ offsets, unsigned* __restrict__ sums, long long* __restrict__ clocks, \
             size_t pattern, size_t turns) {                                                                    \
    access_atomic_detail::repeat<access_atomic_detail::update>(offsets, sums, clocks, pattern, turns);          \
  }

ACCESS_ATOMIC(access_atomic_add, add)
ACCESS_ATOMIC(access_atomic_inc, increment)
ACCESS_ATOMIC(access_atomic_cas, swap)
#undef ACCESS_ATOMIC
