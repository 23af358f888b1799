// Functions that lanes call from different places, and return from at different times.
#pragma once

/// A loop whose length depends on the lane.
static __device__ __noinline__ unsigned walk(const Words& path, unsigned from, unsigned steps) {
  unsigned at = from;
  FOR(unsigned i = 0, i < steps, ++i) at += path[(at + i) % words] % 64;
  return at;
}

/// All lanes call it twice, some a third time.
__global__ void diverge_helper(const unsigned* in, unsigned* out) {
  __shared__ Words path, between, some, after;
  FILL(path, between, some, after);
  const unsigned t = threadIdx.x;
  unsigned sum = CALL(walk(path, t, in[t] % 5));
  sum += between[sum % words];
  if (sum % 3 != 0) {
    sum += CALL(walk(path, sum, sum % 4));
    some[own(0)] = sum;
  }
  sum ^= CALL(walk(path, 3 * t, 1 + sum % 3));
  after[own(1)] = sum;
  out[t] = sum;
}

/// Two calls that never run together, although they are equal.
__global__ void diverge_helper_in_both_arms(const unsigned* in, unsigned* out) {
  __shared__ Words path, join;
  FILL(path, join);
  const unsigned t = threadIdx.x;
  unsigned sum = in[t];
  FOR(unsigned i = 0, i < 3, ++i) {
    if ((sum + t) % 2 == 0) {
      sum += CALL(walk(path, t + 64 * i, 1 + sum % 3));
    } else {
      sum ^= CALL(walk(path, 5 * t + i, 2 + sum % 2));
    }
    sum += join[(sum + i) % words];
  }
  out[t] = sum;
}

static __device__ __noinline__ unsigned short_step(const Words& path, unsigned from) {
  unsigned at = from;
  WHILE(path[at % words] % 4 != 0 && at < from + 5)++ at;
  return at;
}

static __device__ __noinline__ unsigned long_step(const Words& path, const Words& turn, unsigned from) {
  unsigned at = CALL(short_step(path, from));
  if (turn[at % words] % 2 == 0) at += CALL(short_step(path, 7 * at));
  return at + CALL(short_step(path, 3 * at + 1));
}

/// A function that calls another, which the kernel calls, too.
__global__ void diverge_helpers_two_deep(const unsigned* in, unsigned* out) {
  __shared__ Words path, turn, after;
  FILL(path, turn, after);
  const unsigned t = threadIdx.x;
  unsigned sum = in[t] % 64;
  FOR(unsigned i = 0, i < 3, ++i) {
    sum += CALL(long_step(path, turn, sum + t));
    if (sum % 3 == 0) sum += CALL(short_step(path, sum + 5 * i));
    after[own(i)] = sum;
  }
  out[t] = sum;
}

static __device__ __noinline__ unsigned pong(const Words& to, const Words& fro, unsigned ball, unsigned left);

static __device__ __noinline__ unsigned ping(const Words& to, const Words& fro, unsigned ball, unsigned left) {
  const unsigned value = to[(ball + left) % words];
  if (left == 0) return value;
  return value + CALL(pong(to, fro, value % 97, left - 1));
}

static __device__ __noinline__ unsigned pong(const Words& to, const Words& fro, unsigned ball, unsigned left) {
  unsigned value = ball;
  if (left > 0) value += CALL(ping(to, fro, 3 * ball + 1, left - 1));
  return value ^ fro[(value + left) % words];
}

/// Two functions that call each other, at most six deep: one loads on the way down, one on the way up.
__global__ void diverge_mutual_recursion(const unsigned* in, unsigned* out) {
  __shared__ Words to, fro, after;
  FILL(to, fro, after);
  const unsigned t = threadIdx.x;
  unsigned sum = CALL(ping(to, fro, t, in[t] % 7));
  after[own(0)] = sum;
  if (sum % 2 == 0) sum += CALL(pong(to, fro, sum % 89, sum % 3));
  out[t] = sum;
}

/// Like Fibonacci's numbers: fib(n - 1) + fib(n - 2), each at a separate place in the tree of calls.
static __device__ __noinline__ unsigned climb(const Words& leaf, const Words& down, const Words& up, unsigned height,
                                              unsigned node) {
  if (height < 2) return leaf[node % words];
  unsigned sum = down[(node + height) % words];
  sum += CALL(climb(leaf, down, up, height - 1, 2 * node + 1));
  sum ^= CALL(climb(leaf, down, up, height - 2, 2 * node + 2));
  return sum + up[(sum + height) % words];
}

/// Trees of different heights, with accesses before and after the calls.
__global__ void diverge_recursion(const unsigned* in, unsigned* out) {
  __shared__ Words leaf, down, up, after;
  FILL(leaf, down, up, after);
  const unsigned t = threadIdx.x;
  const unsigned sum = CALL(climb(leaf, down, up, in[t] % 6, t));
  after[own(0)] = sum;
  out[t] = sum;
}

/// Returns immediately, out of the loop, or after it.
static __device__ __noinline__ unsigned search(const Words& first, const Words& next, const Words& last,
                                               unsigned from) {
  const unsigned wanted = first[from % words] % 4;
  if (wanted == 0) return from;
  FOR(unsigned i = 0, i < 5, ++i) {
    const unsigned value = next[(from + 17 * i) % words];
    if (value % 8 == wanted) return value;
    if (value % 8 == 7) return value + last[(from + i) % words];
  }
  return wanted;
}

/// A function with several returns, in a loop that some lanes leave early.
__global__ void diverge_helper_with_returns(const unsigned* in, unsigned* out) {
  __shared__ Words first, next, last, after;
  FILL(first, next, last, after);
  const unsigned t = threadIdx.x;
  unsigned sum = in[t];
  FOR(unsigned i = 0, i < 4, ++i) {
    sum += CALL(search(first, next, last, sum % 128 + t));
    if (sum % 7 == 0) break;
    after[own(i)] = sum;
  }
  out[t] = sum;
}
