// Thrust sorts keys of numbers by their bits on the host, and by comparisons in a kernel. Only the first tells the two
// zeros apart.
#include <cmath>
#include <cstdio>

#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/sort.h>

__global__ void sort(float* keys) {
  if (threadIdx.x == 0) thrust::stable_sort(thrust::seq, keys, keys + 4);
}

int main() {
  thrust::device_vector<float> by_host(4);
  by_host[0] = 2;
  by_host[2] = -0.0F;
  by_host[3] = 1;
  thrust::device_vector<float> by_kernel = by_host;
  thrust::stable_sort(by_host.begin(), by_host.end());
  sort<<<1, 32>>>(thrust::raw_pointer_cast(by_kernel.data()));
  const bool is_radix = std::signbit(float(by_host[0])), is_merge = std::signbit(float(by_kernel[1]));
  const bool is_sorted = by_host[3] == 2 && by_kernel[3] == 2 && by_host[2] == 1 && by_kernel[2] == 1;
  std::printf(is_radix && is_merge && is_sorted ? "right\n" : "wrong\n");
}
