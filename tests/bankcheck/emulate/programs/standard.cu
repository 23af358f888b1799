// The standard library for kernels, from the headers of a CUDA Toolkit, beside what the emulator has of namespace cuda.
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/functional>
#include <cuda/pipeline>
#include <cuda/std/array>
#include <cuda/std/atomic>
#include <cuda/std/complex>
#include <cuda/std/limits>
#include <cuda/std/mdspan>
#include <cuda/std/span>
#include <cuda/std/tuple>
#include <cuda/std/type_traits>
#include <cuda/std/utility>

#include "checks.cuh"

using cuda::thread_scope_block;

__global__ void values(int* out) {
  const cuda::std::array<int, 2> array{1, 2};
  const cuda::std::tuple<int, float> tuple{4, 8.0f};
  const auto pair = cuda::std::make_pair(16, 32);
  const cuda::std::complex<float> i(0, 8);
  const cuda::std::complex<__half> half(__half(128.0f), __half(0.0f));
  static_assert(cuda::std::is_same_v<cuda::std::remove_const_t<const int>, int>);
  *out = array[0] + array[1] + cuda::std::get<0>(tuple) + int(cuda::std::get<1>(tuple)) + pair.first + pair.second -
         int((i * i).real()) + int(float(half.real())) + (cuda::std::numeric_limits<int>::max() == 0) +
         256 * cuda::maximum<int>()(1, 0);
}

__global__ void atomics(int* out) {
  __shared__ int counts[64];
  __shared__ cuda::atomic<int, thread_scope_block> sum;
  __shared__ cuda::std::atomic<int> most;
  __shared__ cuda::barrier<thread_scope_block> barrier;
  for (int i = threadIdx.x; i < 64; i += 32) counts[i] = 0;
  if (threadIdx.x == 0) {
    sum.store(0);
    most.store(0);
    init(&barrier, 32);
  }
  __syncthreads();
  cuda::atomic_ref<int, thread_scope_block>(counts[threadIdx.x % 2 * 32]).fetch_add(1);
  sum += int(threadIdx.x);
  most.fetch_or(int(threadIdx.x));
  cuda::atomic_ref<int, cuda::thread_scope_device>(out[1]).fetch_add(2, cuda::std::memory_order_relaxed);
  barrier.arrive_and_wait();
  if (threadIdx.x == 0) out[0] = counts[0] + 100 * counts[32] + sum.load() * 10000 + most.load();
}

__global__ void views(int* out) {
  __shared__ int matrix[32 * 32];
  const cuda::std::mdspan<int, cuda::std::extents<int, 32, 32>> view(matrix);
  const cuda::std::span<int> line(matrix, 32);
  view(threadIdx.x, 0) = threadIdx.x;
  __syncwarp();
  if (threadIdx.x == 0) line[0] = 7;
  __syncwarp();
  out[threadIdx.x] = view(threadIdx.x, 0);
}

int main() {
  int* out;
  cudaMallocManaged(&out, 32 * sizeof(int));
  values<<<1, 1>>>(out);
  CHECK(cudaDeviceSynchronize() == cudaSuccess && out[0] == 1 + 2 + 4 + 8 + 16 + 32 + 64 + 128 + 256);
  out[1] = 0;
  atomics<<<1, 32>>>(out);
  CHECK(cudaDeviceSynchronize() == cudaSuccess && out[0] == 16 + 1600 + 496 * 10000 + 31 && out[1] == 64);
  views<<<1, 32>>>(out);
  CHECK(cudaDeviceSynchronize() == cudaSuccess && out[0] == 7 && out[3] == 3);
  return checked();
}
