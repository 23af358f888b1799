// CUB's reductions of a block and of a warp, and hipCUB's with --hip. Prints each check that fails, and "right" if none
// does.
#ifdef __HIP_PLATFORM_AMD__
#include <hipcub/hipcub.hpp>
namespace library = hipcub;
#define cudaMallocManaged hipMallocManaged
#define cudaDeviceSynchronize hipDeviceSynchronize
#define cudaFree hipFree
#else
#include <cub/cub.cuh>
namespace library = cub;
#endif

#include "checks.cuh"

template <class T, int threads>
__global__ void reduce(T* out, int valid) {
  using Block = library::BlockReduce<T, threads>;
  __shared__ typename Block::TempStorage sum, most;
  T value = T(threadIdx.x + 1);
  const T total = Block(sum).Sum(value);
  const T greatest = Block(most).Reduce(value, library::Max(), valid);
  if (threadIdx.x == 0) out[0] = total, out[1] = greatest;
  using Eight = library::WarpReduce<T, 8>;
  __shared__ typename Eight::TempStorage of_eight[threads / 8];
  const T eight = Eight(of_eight[threadIdx.x / 8]).Sum(value);
  if (threadIdx.x % 8 == 0) out[2 + threadIdx.x / 8] = eight;
}

template <class T, int threads>
void check(int valid) {
  T* out;
  cudaMallocManaged(&out, (2 + threads / 8) * sizeof(T));
  reduce<T, threads><<<1, threads>>>(out, valid);
  CHECK(cudaDeviceSynchronize() == 0);
  CHECK(out[0] == T(threads * (threads + 1) / 2));
  CHECK(out[1] == T(valid));
  for (int i = 0; i < threads / 8; ++i) CHECK(out[2 + i] == T(8 * (8 * i + 1) + 28));
  cudaFree(out);
}

__global__ void several(int* out) {
  using Block = library::BlockReduce<int, 16, library::BLOCK_REDUCE_WARP_REDUCTIONS, 2, 2>;
  __shared__ typename Block::TempStorage storage;
  const int thread = (threadIdx.z * 2 + threadIdx.y) * 16 + threadIdx.x;
  int values[3] = {thread, 1000, 2};
  const int sum = Block(storage).Sum(values);
  if (thread == 0) *out = sum;
}

int main() {
  check<int, 256>(256);
  check<double, 96>(40);
  check<float, 1024>(1);
  check<long long, 48>(33);
  check<int, 16>(7);
  int* out;
  cudaMallocManaged(&out, sizeof *out);
  several<<<1, dim3(16, 2, 2)>>>(out);
  CHECK(cudaDeviceSynchronize() == 0);
  CHECK(*out == 63 * 64 / 2 + 64 * 1002);
  return checked();
}
