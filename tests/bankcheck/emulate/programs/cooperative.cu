// SPDX-License-Identifier: MIT
//
// Fills the device with a cooperative launch, in which every block reads what all blocks have written before.
#include <cooperative_groups.h>
#include <cstdio>
#include <vector>

namespace cg = cooperative_groups;

__global__ void turn(int* values, int* out) {
  const cg::grid_group grid = cg::this_grid();
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
  values[i] = int(i) + 1;
  grid.sync();
  out[i] = values[n - 1 - i];
}

bool is_right(const int* out, int n) {
  std::vector<int> host(n);
  cudaMemcpy(host.data(), out, n * sizeof(int), cudaMemcpyDeviceToHost);
  for (int i = 0; i < n; ++i) {
    if (host[i] != n - i) return false;
  }
  return true;
}

int main() {
  int blocks = 0, multiprocessors = 0;
  cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0);
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, turn, 256, 0);
  const int grid = blocks * multiprocessors, n = grid * 256;
  int *values, *out;
  cudaMalloc(&values, n * sizeof(int));
  cudaMalloc(&out, n * sizeof(int));
  void* arguments[] = {&values, &out};
  cudaLaunchCooperativeKernel((void*)turn, dim3(grid), dim3(256), arguments);
  bool right = is_right(out, n);
  cudaMemset(out, 0, n * sizeof(int));
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeCooperative;
  attribute.val.cooperative = 1;
  cudaLaunchConfig_t configuration{};
  configuration.gridDim = grid;
  configuration.blockDim = 256;
  configuration.attrs = &attribute;
  configuration.numAttrs = 1;
  cudaLaunchKernelEx(&configuration, turn, values, out);
  right = right && is_right(out, n);
  puts(right ? "right" : "wrong");
  return right ? 0 : 1;
}
