// SPDX-License-Identifier: MIT-0
//
// Microbenchmark of shared-memory stores: clock cycles per store of 1, 2, 4, 8 or 16 bytes per lane, with any bank
// conflicts. Every warp repeats one access pattern; the host divides the elapsed cycles by the number of accesses.
//
// Changed against load.cuh: each warp stores to its own part of the tile, because warps would race otherwise; the sums
// are read from the tile after the last store.
//
// Kernels: store_1, store_2, store_4, store_8, store_16
//
//   lanes  As in load.cuh: lane l stores values at offsets[l] + i * STEP.
//   banks  As in load.cuh.
//
// Contract
//   launch   1 block of exactly BLOCK threads
//   offsets  LANES words per pattern: the byte offset at which each lane starts, a multiple of the value's size, below
//            STEP, all different; IDLE for an inactive lane
//   sums     BLOCK words: the sum of the bytes (store_1), half words (store_2) or words at all WINDOWS * ACCESSES
//            addresses of each thread, read after the last access, modulo 2^32; 0 for an inactive lane
//   clocks, pattern, turns  as in load.cuh

namespace access_store_detail {

constexpr unsigned BLOCK = 512;                  // threads: enough warps to keep shared memory busy
constexpr unsigned LANES = 32;                   // offsets per pattern
constexpr unsigned WINDOWS = 2;                  // iterations until the addresses repeat
constexpr unsigned PART = 2048;                  // bytes per warp
constexpr unsigned TILE = BLOCK / LANES * PART;  // bytes
constexpr unsigned IDLE = ~0u;

// What a thread stores, and the sum of what it finds there.
template <class Value>
static __device__ __forceinline__ Value value_of(unsigned v) {
  return static_cast<Value>(v);
}
template <>
__device__ __forceinline__ uint2 value_of<uint2>(unsigned v) {
  return make_uint2(v, v + 1);
}
template <>
__device__ __forceinline__ uint4 value_of<uint4>(unsigned v) {
  return make_uint4(v, v + 1, v + 2, v + 3);
}
static __device__ __forceinline__ unsigned sum_of(unsigned v) { return v; }
static __device__ __forceinline__ unsigned sum_of(uint2 v) { return v.x + v.y; }
static __device__ __forceinline__ unsigned sum_of(uint4 v) { return v.x + v.y + v.z + v.w; }

template <class Value>
static __device__ __forceinline__ void repeat(const unsigned* __restrict__ offsets, unsigned* __restrict__ sums,
                                              long long* __restrict__ clocks, size_t pattern, size_t turns) {
  constexpr unsigned STEP = sizeof(Value) == 16 ? 512 : 256;  // bytes from one access to the next
  constexpr unsigned ACCESSES = PART / (WINDOWS * STEP);      // per iteration
  __shared__ uint4 tile[TILE / sizeof(uint4)];
  unsigned* words = reinterpret_cast<unsigned*>(tile);
  // fill the tile with known values
  for (unsigned w = threadIdx.x; w < TILE / sizeof(unsigned); w += BLOCK) words[w] = w * 0x9E3779B1u;

  // find where the lane starts in the tile
  const unsigned offset = offsets[pattern * LANES + threadIdx.x % LANES];
  char* part = reinterpret_cast<char*>(tile) + threadIdx.x / LANES * PART;
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
      for (unsigned i = 0; i < ACCESSES; ++i) *reinterpret_cast<Value*>(at + i * STEP) = value_of<Value>(value);
    }
  }
  // stop the clock when all warps have finished
  __syncthreads();
  if (threadIdx.x == 0) *clocks = clock64() - start;
  // add up what the tile holds at the addresses of this thread
  for (unsigned i = 0; offset != IDLE && i < WINDOWS * ACCESSES; ++i) {
    sum += sum_of(*reinterpret_cast<const Value*>(own + i * STEP));
  }
  sums[threadIdx.x] = sum;
}

}  // namespace access_store_detail

#define ACCESS_STORE(kernel, Value)                                                                             \
  __global__ void __launch_bounds__(access_store_detail::BLOCK)                                                 \
      kernel(const unsigned* __restrict__ offsets, unsigned* __restrict__ sums, long long* __restrict__ clocks, \
             size_t pattern, size_t turns) {                                                                    \
    access_store_detail::repeat<Value>(offsets, sums, clocks, pattern, turns);                                  \
  }

ACCESS_STORE(access_store_1, unsigned char)
ACCESS_STORE(access_store_2, unsigned short)
ACCESS_STORE(access_store_4, unsigned)
ACCESS_STORE(access_store_8, uint2)
ACCESS_STORE(access_store_16, uint4)
#undef ACCESS_STORE
