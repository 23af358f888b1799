// SPDX-License-Identifier: MIT
//
// Functions that lanes call from different places, and return from at different times.
#pragma once

#include "fill.cuh"

/// A loop whose length depends on the lane.
static __device__ __noinline__ unsigned walk(const unsigned* path, unsigned from, unsigned steps) {
  unsigned at = from;
  for (unsigned i = 0; i < steps; ++i) at += path[(at + i) % words] % 64;
  return at;
}

/// All lanes call it twice, some a third time.
__global__ void diverge_helper(const unsigned* in, unsigned* out) {
  __shared__ unsigned path[words], between[words], some[words], after[words];
  fill_shared(in, path, between, some, after);
  const unsigned t = threadIdx.x;
  unsigned sum = walk(path, t, in[t] % 5);
  sum += between[sum % words];
  if (sum % 3 != 0) {
    sum += walk(path, sum, sum % 4);
    some[own(0)] = sum;
  }
  sum ^= walk(path, 3 * t, 1 + sum % 3);
  after[own(1)] = sum;
  out[t] = sum;
}

/// Two calls that never run together, although they are equal.
__global__ void diverge_helper_in_both_arms(const unsigned* in, unsigned* out) {
  __shared__ unsigned path[words], join[words];
  fill_shared(in, path, join);
  const unsigned t = threadIdx.x;
  unsigned sum = in[t];
  for (unsigned i = 0; i < 3; ++i) {
    if ((sum + t) % 2 == 0) {
      sum += walk(path, t + 64 * i, 1 + sum % 3);
    } else {
      sum ^= walk(path, 5 * t + i, 2 + sum % 2);
    }
    sum += join[(sum + i) % words];
  }
  out[t] = sum;
}

static __device__ __noinline__ unsigned short_step(const unsigned* path, unsigned from) {
  unsigned at = from;
  while (path[at % words] % 4 != 0 && at < from + 5) ++at;
  return at;
}

static __device__ __noinline__ unsigned long_step(const unsigned* path, const unsigned* turn, unsigned from) {
  unsigned at = short_step(path, from);
  if (turn[at % words] % 2 == 0) at += short_step(path, 7 * at);
  return at + short_step(path, 3 * at + 1);
}

/// A function that calls another, which the kernel calls, too.
__global__ void diverge_helpers_two_deep(const unsigned* in, unsigned* out) {
  __shared__ unsigned path[words], turn[words], after[words];
  fill_shared(in, path, turn, after);
  const unsigned t = threadIdx.x;
  unsigned sum = in[t] % 64;
  for (unsigned i = 0; i < 3; ++i) {
    sum += long_step(path, turn, sum + t);
    if (sum % 3 == 0) sum += short_step(path, sum + 5 * i);
    after[own(i)] = sum;
  }
  out[t] = sum;
}

static __device__ __noinline__ unsigned pong(const unsigned* to, const unsigned* fro, unsigned ball, unsigned left);

static __device__ __noinline__ unsigned ping(const unsigned* to, const unsigned* fro, unsigned ball, unsigned left) {
  const unsigned value = to[(ball + left) % words];
  if (left == 0) return value;
  return value + pong(to, fro, value % 97, left - 1);
}

static __device__ __noinline__ unsigned pong(const unsigned* to, const unsigned* fro, unsigned ball, unsigned left) {
  unsigned value = ball;
  if (left > 0) value += ping(to, fro, 3 * ball + 1, left - 1);
  return value ^ fro[(value + left) % words];
}

/// Two functions that call each other, at most six deep: one loads on the way down, one on the way up.
__global__ void diverge_mutual_recursion(const unsigned* in, unsigned* out) {
  __shared__ unsigned to[words], fro[words], after[words];
  fill_shared(in, to, fro, after);
  const unsigned t = threadIdx.x;
  unsigned sum = ping(to, fro, t, in[t] % 7);
  after[own(0)] = sum;
  if (sum % 2 == 0) sum += pong(to, fro, sum % 89, sum % 3);
  out[t] = sum;
}

/// Like Fibonacci's numbers: fib(n - 1) + fib(n - 2), each at a separate place in the tree of calls.
static __device__ __noinline__ unsigned climb(const unsigned* leaf, const unsigned* down, const unsigned* up,
                                              unsigned height, unsigned node) {
  if (height < 2) return leaf[node % words];
  unsigned sum = down[(node + height) % words];
  sum += climb(leaf, down, up, height - 1, 2 * node + 1);
  sum ^= climb(leaf, down, up, height - 2, 2 * node + 2);
  return sum + up[(sum + height) % words];
}

/// Trees of different heights, with accesses before and after the calls.
__global__ void diverge_recursion(const unsigned* in, unsigned* out) {
  __shared__ unsigned leaf[words], down[words], up[words], after[words];
  fill_shared(in, leaf, down, up, after);
  const unsigned t = threadIdx.x;
  const unsigned sum = climb(leaf, down, up, in[t] % 6, t);
  after[own(0)] = sum;
  out[t] = sum;
}

/// Returns immediately, out of the loop, or after it.
static __device__ __noinline__ unsigned search(const unsigned* first, const unsigned* next, const unsigned* last,
                                               unsigned from) {
  const unsigned wanted = first[from % words] % 4;
  if (wanted == 0) return from;
  for (unsigned i = 0; i < 5; ++i) {
    const unsigned value = next[(from + 17 * i) % words];
    if (value % 8 == wanted) return value;
    if (value % 8 == 7) return value + last[(from + i) % words];
  }
  return wanted;
}

/// A function with several returns, in a loop that some lanes leave early.
__global__ void diverge_helper_with_returns(const unsigned* in, unsigned* out) {
  __shared__ unsigned first[words], next[words], last[words], after[words];
  fill_shared(in, first, next, last, after);
  const unsigned t = threadIdx.x;
  unsigned sum = in[t];
  for (unsigned i = 0; i < 4; ++i) {
    sum += search(first, next, last, sum % 128 + t);
    if (sum % 7 == 0) break;
    after[own(i)] = sum;
  }
  out[t] = sum;
}
