// SPDX-License-Identifier: MIT
//
// Times each kernel of kernels.cuh next to its changed version, and compares what they write:
//   patch -o kernels_fixed.cuh kernels.cuh kernels_fixed.diff
//   nvcc -std=c++17 -O3 -arch=native -lineinfo time_kernels.cu -o time_kernels && ./time_kernels
// One JSON object per kernel: milliseconds (the median of 15 launches each, taking turns), and whether results agree.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace naive {
#include "kernels.cuh"
}
namespace changed {
#include "kernels_fixed.cuh"
}

static unsigned hashed(unsigned i) {
  i = (i ^ i >> 16) * 0x7feb352du;
  i = (i ^ i >> 15) * 0x846ca68bu;
  return i ^ i >> 16;
}

static void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
  std::exit(3);
}

int main(int argc, char** argv) {
  const unsigned blocks = argc > 1 ? unsigned(std::atoi(argv[1])) : 2112,
                 rounds = argc > 2 ? unsigned(std::atoi(argv[2])) : 64;
  constexpr int samples = 15;
  const size_t words = size_t(blocks) * naive::SLICE;
  std::vector<unsigned> host(words), results[2];
  for (size_t i = 0; i < words; ++i) host[i] = hashed(unsigned(i));
  unsigned *in, *out;
  check(cudaMalloc(&in, words * 4));
  check(cudaMalloc(&out, words * 4));
  check(cudaMemcpy(in, host.data(), words * 4, cudaMemcpyHostToDevice));
  cudaEvent_t begin, end;
  check(cudaEventCreate(&begin));
  check(cudaEventCreate(&end));
  for (size_t k = 0; k < sizeof(naive::launches) / sizeof(naive::launches[0]); ++k) {
    std::vector<float> times[2];
    for (int sample = 0; sample <= samples; ++sample) {
      for (int version = 0; version < 2; ++version) {
        check(cudaMemset(out, 0, words * 4));
        const auto kernel = version == 0 ? naive::launches[k].kernel : changed::launches[k].kernel;
        check(cudaEventRecord(begin));
        kernel<<<blocks, naive::launches[k].block>>>(in, out, rounds);
        check(cudaEventRecord(end));
        check(cudaEventSynchronize(end));
        check(cudaGetLastError());
        float time = 0;
        check(cudaEventElapsedTime(&time, begin, end));
        if (sample > 0) times[version].push_back(time);  // the first launch warms up
        results[version].resize(words);
        if (sample == 0) check(cudaMemcpy(results[version].data(), out, words * 4, cudaMemcpyDeviceToHost));
      }
    }
    for (auto& list : times) std::nth_element(list.begin(), list.begin() + samples / 2, list.end());
    std::printf(
        "{\"kernel\": \"%s\", \"blocks\": %u, \"rounds\": %u, \"naive_ms\": %.4f, \"fixed_ms\": %.4f, "
        "\"same_results\": %s}\n",
        naive::launches[k].name, blocks, rounds, times[0][samples / 2], times[1][samples / 2],
        results[0] == results[1] ? "true" : "false");
  }
}
