// CUDA's atomic operations in every type: their results equal those of plain loops. Kernels and tests are both compiled
// for the emulator.
#include "tests/catch_any.hpp"

// As in a kernel file.
#include <cuda_runtime.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include <bankwise/emulator/cuda.hpp>
#include "tests/emulator/kernel_tests.hpp"

// Kernel files have this.
using namespace std;

namespace {

using bankwise::emulate;
using bankwise::banks::Operation;

constexpr unsigned full = 0xFFFFFFFF;

enum class Do { add, sub, least, greatest, bits_and, bits_or, bits_xor, exchange };

template <Do how, class T>
__device__ T act(T* cell, T value) {
  if constexpr (how == Do::add) return atomicAdd(cell, value);
  if constexpr (how == Do::sub) return atomicSub(cell, value);
  if constexpr (how == Do::least) return atomicMin_block(cell, value);
  if constexpr (how == Do::greatest) return atomicMax(cell, value);
  if constexpr (how == Do::bits_and) return atomicAnd(cell, value);
  if constexpr (how == Do::bits_or) return atomicOr_system(cell, value);
  if constexpr (how == Do::bits_xor) return atomicXor(cell, value);
  if constexpr (how == Do::exchange) return atomicExch(cell, value);
}

template <Do how, class T>
__global__ void atomics(const T* in, T* cell, T* out, T start) {
  __shared__ T shared;
  if (threadIdx.x == 0) shared = start;
  __syncthreads();
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = act<how>(cell, in[i]);
  act<how>(&shared, in[threadIdx.x]);
  __syncthreads();
  if (threadIdx.x == 0) out[gridDim.x * blockDim.x + blockIdx.x] = shared;
}

/// One cell in memory and one per block, all lanes simultaneously.
template <Do how, class T>
void check_atomic(T start, const char* name) {
  INFO(name << " of " << sizeof(T) << " bytes");
  constexpr unsigned threads = 64, blocks = 16, all = threads * blocks;
  vector<T> in(all), out(all + blocks);
  for (unsigned i = 0; i < all; ++i) in[i] = T(scramble(i) % 1000 * (sizeof(T) == 8 ? 0x100000001 : 1));
  const auto expected = [&](unsigned count) {
    T x = start;
    for (unsigned i = 0; i < count; ++i) {
      const T v = in[i];
      if constexpr (how == Do::add) x = T(x + v);
      if constexpr (how == Do::sub) x = T(x - v);
      if constexpr (how == Do::least) x = v < x ? v : x;
      if constexpr (how == Do::greatest) x = x < v ? v : x;
      if constexpr (how == Do::bits_and) x = x & v;
      if constexpr (how == Do::bits_or) x = x | v;
      if constexpr (how == Do::bits_xor) x = x ^ v;
    }
    return x;
  };
  T cell = start;
  emulate(atomics<how, T>, {.grid = blocks, .block = threads, .threads = 4}, in.data(), &cell, out.data(), start);
  if constexpr (how == Do::exchange) {
    vector<T> came(in), went(out.begin(), out.begin() + all);
    came.push_back(start), went.push_back(cell);
    sort(came.begin(), came.end()), sort(went.begin(), went.end());
    CHECK(came == went);
  } else {
    CHECK(cell == expected(all));
    CHECK(count(out.begin(), out.begin() + all, start) > 0);  // the first lane's old value
    CHECK(count(out.begin() + all, out.end(), expected(threads)) == blocks);
  }
}

template <class T>
__global__ void count_by_swapping(T* cell) {
  T old = *cell, expected;
  do {
    expected = old;
    old = atomicCAS(cell, expected, T(expected + 1));
  } while (old != expected);
}

__global__ void wrapping(unsigned* up, unsigned* down) {
  atomicInc(up, 9);
  atomicDec(down, 9);
}

__device__ int twice(int x) { return 2 * x; }
template <class T>
__device__ T same(T x) {
  return x;
}

__global__ void old_values(int* out) {
  __shared__ int x;
  __shared__ unsigned n;
  if (threadIdx.x == 0) x = 10, n = 0;
  int old = atomicAdd(&x, 1);
  *out++ = old;
  out[atomicAdd(&n, 1u)] = 77;
  ++out;
  if (atomicAdd(&x, 1) == 11) *out++ = 1;
  *out++ = int(4 * (0.5f * atomicAdd(&x, 1)));
  *out++ = threadIdx.x == 0 ? atomicAdd(&x, 1) : 0;
  *out++ = __shfl_sync(full, atomicAdd(&x, 1), 0);
  auto kept = atomicAdd(&x, 1);
  kept += 100;
  *out++ = kept + twice(kept);
  *out++ = (int)(float)atomicAdd(&x, 1);
  *out++ = min(atomicAdd(&x, 1), 5) + int(max(atomicAdd(&n, 1u), 5u)) + same(atomicAdd(&x, 1));
  *out++ = x;
}

__global__ void additions(int* used, int by) {
  __shared__ int x;
  if (threadIdx.x == 0) x = 0;
  __syncthreads();
  atomicAdd(&x, 1);                      // an increment
  atomicAdd(&x, by);                     // not known to be one
  atomicAdd(&x, 2);                      // none
  used[threadIdx.x] = atomicAdd(&x, 1);  // used
  atomicCAS(&x, 1, 2);
}

/// Atomic operations that are no functions of CUDA.
__global__ void of_host(int* out) {
  __shared__ int cells[32 * 32];
  int* const cell = &cells[32 * threadIdx.x];
  __atomic_store_n(cell, 1, __ATOMIC_RELAXED);
  reinterpret_cast<std::atomic<int>*>(cell)->fetch_add(2);
  __sync_bool_compare_and_swap(cell, 3, 5);
  out[threadIdx.x] = __atomic_exchange_n(cell, 4, __ATOMIC_RELAXED);
  out[threadIdx.x] += __atomic_load_n(cell, __ATOMIC_RELAXED);
}

enum class Beside { atomics, load, store };

/// One lane of each warp counts, and another one loads or stores, atomically or not, without a barrier between.
__global__ void beside_atomics(Beside load, Beside store, unsigned* out) {
  __shared__ unsigned count;
  if (threadIdx.x == 0) __atomic_store_n(&count, 0U, __ATOMIC_RELAXED);
  __syncthreads();
  switch (threadIdx.x % 32) {
    case 0: atomicAdd(&count, 1U); break;
    case 1: out[threadIdx.x] = load == Beside::load ? count : __atomic_load_n(&count, __ATOMIC_RELAXED); break;
    case 2: store == Beside::store ? void(count = 7) : __atomic_store_n(&count, 7U, __ATOMIC_RELAXED); break;
    default: break;
  }
}

}  // namespace

TEST_CASE("emulator/cuda_atomics/every_type") {
#define DO(how, start, ...) check_atomic<Do::how, __VA_ARGS__>(start, #how " " #__VA_ARGS__)
  DO(add, 3, int), DO(add, 3, unsigned), DO(add, 3, unsigned long long), DO(add, 3, float), DO(add, 3, double);
  DO(sub, 3, int), DO(sub, 3, unsigned);
  DO(least, 500, int), DO(least, 500, unsigned), DO(least, 500, long long), DO(least, 500, unsigned long long);
  DO(greatest, -1, int), DO(greatest, 1, unsigned), DO(greatest, -1, long long), DO(greatest, 1, unsigned long long);
  DO(bits_and, 4095, int), DO(bits_and, 4095, unsigned), DO(bits_and, ~0ull, unsigned long long);
  DO(bits_or, 2048, int), DO(bits_or, 2048, unsigned), DO(bits_or, 1ull << 60, unsigned long long);
  DO(bits_xor, 99, int), DO(bits_xor, 99, unsigned), DO(bits_xor, 1ull << 60, unsigned long long);
  DO(exchange, 7, int), DO(exchange, 7, unsigned), DO(exchange, 7, unsigned long long), DO(exchange, 7, float);
#undef DO
  const auto counts_all = [](auto cell) {
    const auto start = cell;
    emulate(count_by_swapping<decltype(cell)>, {.grid = 5, .block = 64, .threads = 4}, &cell);
    return cell == start + 320;
  };
  CHECK((counts_all((unsigned short)0) && counts_all(0) && counts_all(0u) && counts_all(1ull << 40)));
  unsigned up = 0, down = 0;
  emulate(wrapping, {.grid = 1, .block = 13}, &up, &down);
  CHECK(up == 3);    // 0 ... 9, 0, 1, 2, 3
  CHECK(down == 7);  // 0, 9 ... 0, 9, 8, 7
}

TEST_CASE("emulator/cuda_atomics/atomic_add_value") {
  int out[11] = {};
  emulate(old_values, {.block = 1}, out);
  const int expected[] = {10, 77, 1, 24, 13, 14, 345, 16, 5 + 5 + 18, 19};
  for (int i = 0; i < 10; ++i) CHECK(out[i] == expected[i]);
}

TEST_CASE("emulator/cuda_atomics/increment") {
  vector<int> used(32);
  const auto trace = emulate(additions, {.block = 32, .record_order = true}, used.data(), 1);
  vector<Operation> operations;
  for (const auto& step : trace.order) operations.push_back(trace.patterns[step.pattern].operation);
  CHECK(operations == vector<Operation>{Operation::store, Operation::atomic_inc, Operation::atomic, Operation::atomic,
                                        Operation::atomic, Operation::atomic_cas});
  sort(used.begin(), used.end());
  for (int i = 0; i < 32; ++i) CHECK(used[i] == 128 + i);
}

TEST_CASE("emulator/cuda_atomics/of_host") {
  vector<int> out(32);
  const auto trace = emulate(of_host, {.block = 32, .record_order = true}, out.data());
  CHECK(out == vector<int>(32, 9));
  vector<Operation> operations;
  for (const auto& step : trace.order) {
    const auto& pattern = trace.patterns[step.pattern];
    operations.push_back(pattern.operation);
    CHECK((pattern.width == 4 && pattern.addresses[1] - pattern.addresses[0] == 128));
  }
  CHECK(operations == vector<Operation>{Operation::store, Operation::atomic, Operation::atomic_cas, Operation::atomic,
                                        Operation::load});
}

TEST_CASE("emulator/cuda_atomics/loads_and_stores_beside") {
  const auto faults = [](Beside load, Beside store) {
    vector<unsigned> out(64);
    const auto trace = emulate(beside_atomics, {.grid = 1, .block = 64, .fatal = false}, load, store, out.data());
    return trace.diagnoses.size();
  };
  CHECK(faults(Beside::atomics, Beside::atomics) == 0);
  CHECK(faults(Beside::load, Beside::atomics) > 0);
  CHECK(faults(Beside::atomics, Beside::store) > 0);
}
