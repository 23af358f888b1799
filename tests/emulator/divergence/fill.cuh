// What the kernels of this folder share, for the emulator; path_reference.hpp has the same for the second
// implementation. Each kernel takes `in`, 256 words of any value, and `out`, one word per thread of its only block,
// which has at most 64 threads. After the barrier, at most one statement loads each array and at most one stores it, so
// the array and the operation identify the statement.
//
// The compiler must keep the accesses of the source, otherwise there is nothing to compare. So no two executions of a
// statement by one thread have the same address where the compiler could know, and no loop repeats one.
#pragma once

/// The size of each array.
constexpr unsigned words = 256;
using Words = unsigned[words];

// Loops and calls as they are; the second implementation follows them.
#define FOR(first, condition, next) for (first; condition; next)
#define WHILE(condition) while (condition)
#define LOOP
#define ITERATION
#define CALL(call) call

/// After the barrier threads load words that no thread stores. They store only their own words, `row * 64 +
/// threadIdx.x`.
static __device__ __noinline__ void fill_array(unsigned* array, const unsigned* in) {
  for (unsigned i = threadIdx.x; i < words; i += blockDim.x) array[i] = in[i];
}

/// Fills the arrays and waits for all.
template <class... Arrays>
static __device__ __forceinline__ void fill_shared(const unsigned* in, Arrays&... arrays) {
  (fill_array(arrays, in), ...);
  __syncthreads();
}
#define FILL(...) fill_shared(in, __VA_ARGS__)

/// The thread's own word in a row.
static __device__ __forceinline__ unsigned own(unsigned row) { return row % 4 * 64 + threadIdx.x; }
