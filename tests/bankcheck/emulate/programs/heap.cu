// Lanes of a warp free memory and part afterwards: a lane that ran ahead has to go back to before it.
#include <cstdio>
#include <cstdlib>

__device__ void* known[3];  // or g++ leaves them out

__global__ void frees(unsigned* out) {
  __shared__ unsigned words[64];
  words[threadIdx.x] = threadIdx.x;
  auto* memory = malloc(4);
  auto* object = new unsigned;
  auto* objects = new unsigned[2];
  known[0] = memory;
  known[1] = object;
  known[2] = objects;
  unsigned sum = words[threadIdx.x];
  sum += words[threadIdx.x];
  free(memory);
  delete object;
  delete[] objects;
  for (unsigned i = 0; i < 3 - threadIdx.x % 4; ++i) sum += words[threadIdx.x] + words[threadIdx.x];
  out[threadIdx.x] = sum;
}

int main() {
  unsigned *device = nullptr, host[64];
  cudaMalloc(&device, sizeof host);
  frees<<<1, 64>>>(device);
  cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost);
  for (unsigned i = 0; i < 64; ++i) {
    if (host[i] != 2 * i + (3 - i % 4) * 2 * i) return 1;
  }
  puts("right");
}
