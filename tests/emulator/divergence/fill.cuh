// SPDX-License-Identifier: MIT
//
// What the kernels of this folder share. Each takes `in`, 256 words of any value, and `out`, a word for each thread of
// its only block, which has at most 64 threads. After the barrier, each array is loaded by one statement at most and
// stored by one at most: so an array and what is done with it say which statement that was.
//
// The compiler has to leave the accesses as they stand here, or there is nothing to compare. So no two executions of a
// statement by one thread have the same address where the compiler could know, and no loop repeats one.
#pragma once

/// Of each array.
constexpr unsigned words = 256;

/// Threads may read what nobody writes after the barrier. What they write are their own words, `row * 64 + threadIdx.x`.
static __device__ __noinline__ void fill_shared(unsigned* array, const unsigned* in) {
  for (unsigned i = threadIdx.x; i < words; i += blockDim.x) array[i] = in[i];
}

/// The thread's own word in a row.
static __device__ __forceinline__ unsigned own(unsigned row) {
  return row % 4 * 64 + threadIdx.x;
}
