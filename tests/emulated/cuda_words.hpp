// SPDX-License-Identifier: MIT
//
// The words of CUDA that the kernels of this repository use, for a host compiler. Included before a .cuh file.
#pragma once

#include <cstddef>

#define __global__
#define __device__
#define __shared__ static __attribute__((section("lane_shared")))  // one block runs at a time
#define __launch_bounds__(threads)

struct LaneIndex {
  unsigned x = 0, y = 0, z = 0;
};
extern thread_local LaneIndex threadIdx, blockIdx;

struct alignas(16) uint4 {
  unsigned x, y, z, w;
};
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) {
  return {x, y, z, w};
}

struct alignas(8) uint2 {
  unsigned x, y;
};

void __syncthreads();
inline long long clock64() {
  return 0;
}
