// Launches that depend on each other's results, for --only-watched.
#include <cstdio>
#include <cstdlib>
#include <cstring>

constexpr int threads = 64, blocks = 50, n = threads * blocks;

__device__ int total;

__global__ void fill(int* out) {
  __shared__ int words[threads];
  words[threadIdx.x] = int(threadIdx.x);
  __syncthreads();
  out[blockIdx.x * threads + threadIdx.x] = words[threads - 1 - threadIdx.x];
}

__global__ void gather(const int* in, int* out) {
  __shared__ int words[threads];
  words[threadIdx.x] = in[blockIdx.x * threads + threadIdx.x];
  __syncthreads();
  out[blockIdx.x * threads + threadIdx.x] = words[threads - 1 - threadIdx.x];
}

__global__ void fill_from(int* out, const int* in, int block) {
  if (blockIdx.x >= block) out[threadIdx.x] = in[threadIdx.x];
}

__global__ void count(const int* in) { atomicAdd(&total, in[blockIdx.x * threads + threadIdx.x]); }
__global__ void read_total(int* out) { out[threadIdx.x] = total; }

int main(int argc, char** argv) {
  const auto asked = [&](const char* word) { return argc > 1 && std::strstr(argv[1], word) != nullptr; };
  int *a, *b, *c, *host = static_cast<int*>(std::malloc(n * sizeof(int)));
  for (int** pointer : {&a, &b, &c}) {
    cudaMalloc(pointer, n * sizeof(int));
    cudaMemset(*pointer, 0, n * sizeof(int));
  }
  // --max-launches counts the launches of each line.
  for (int* to : {a, b}) {
    if (to == a || asked("second")) fill<<<blocks, threads>>>(to);
  }
  if (asked("last")) fill_from<<<blocks, threads>>>(b, c, blocks - 1);
  for (int first = blocks; asked("later") && first >= 0; first -= blocks) fill_from<<<blocks, threads>>>(b, c, first);
  if (asked("cleared")) cudaMemset(a, 0, n * sizeof(int));
  if (asked("copied")) cudaMemcpy(b, a, n * sizeof(int), cudaMemcpyDeviceToDevice);
  if (asked("total")) {
    count<<<blocks, threads>>>(c);
    read_total<<<1, threads>>>(b);
  } else {
    gather<<<blocks, threads>>>(asked("from_b") ? b : a, c);
  }
  if (asked("read")) cudaMemcpy(host, c, n * sizeof(int), cudaMemcpyDeviceToHost);
  std::puts(cudaDeviceSynchronize() == cudaSuccess ? "no error" : "error");
  return asked("read") && host[1] != 1 ? 4 : 0;
}
