// What the programs share: checks of CUDA's errors and of the results, and kernels whose passes are easy to count. A
// program ends with 9 if a check fails.
#pragma once

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

inline void check(cudaError_t error, const char* file, int line) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s:%d: %s\n", file, line, cudaGetErrorString(error));
  std::exit(9);
}
#define CHECK(call) check(call, __FILE__, __LINE__)

inline void expect(bool holds, const char* subject) {
  if (holds) return;
  std::fprintf(stderr, "wrong: %s\n", subject);
  std::exit(9);
}

/// The value that each of the kernels below stores in shared memory.
__host__ __device__ inline unsigned value_of(unsigned block, unsigned lane) { return 1000 * block + lane; }

// One warp in each block. `volatile` keeps nvcc from merging or dropping accesses.

/// A store and a load of 32 passes each: a stride of 32 words.
__global__ void ways_32(unsigned* out) {
  __shared__ volatile unsigned tile[32 * 32];
  tile[32 * threadIdx.x] = value_of(blockIdx.x, threadIdx.x);   // 32-way store
  out[32 * blockIdx.x + threadIdx.x] = tile[32 * threadIdx.x];  // 32-way load
}

/// A store and two loads of 2 passes each: a stride of 2 words.
__global__ void ways_2(unsigned* out) {
  __shared__ volatile unsigned pairs[2 * 32];
  pairs[2 * threadIdx.x] = value_of(blockIdx.x, threadIdx.x);                                  // 2-way store
  out[32 * blockIdx.x + threadIdx.x] = (pairs[2 * threadIdx.x] + pairs[2 * threadIdx.x]) / 2;  // 2-way loads
}

/// 32 words for each block, and the check that a kernel filled them.
struct Output {
  explicit Output(unsigned blocks) : words(std::size_t{32} * blocks) {
    CHECK(cudaMalloc(&data, words * sizeof(unsigned)));
    CHECK(cudaMemset(data, 0xff, words * sizeof(unsigned)));
    CHECK(cudaDeviceSynchronize());  // other streams do not wait for the memset
  }
  /// Waits for the kernel.
  void verify() const {
    std::vector<unsigned> values(words);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(values.data(), data, words * sizeof(unsigned), cudaMemcpyDeviceToHost));
    for (std::size_t i = 0; i < words; ++i) {
      expect(values[i] == value_of(unsigned(i / 32), unsigned(i % 32)), "the output of a kernel");
    }
  }
  std::size_t words;
  unsigned* data = nullptr;
};

using Kernel = void (*)(unsigned*);

/// Launches, waits and verifies.
inline void run(Kernel kernel, unsigned blocks) {
  const Output out(blocks);
  kernel<<<blocks, 32>>>(out.data);
  CHECK(cudaGetLastError());
  out.verify();
}

/// What main() does: runs the mode that the first argument names.
struct Mode {
  const char* name;
  void (*play)();
};
template <std::size_t n>
int play(const Mode (&modes)[n], int count, char** arguments) {
  for (const Mode& mode : modes) {
    if (count < 2 || std::strcmp(arguments[1], mode.name) != 0) continue;
    mode.play();
    return 0;
  }
  std::fprintf(stderr, "no such mode\n");
  return 2;
}
