// Races in device memory, and what looks like one: every kernel of the second half is right.
#include <cstdio>

__global__ void rows(float* x) { x[threadIdx.x] += 1; }
__global__ void in_place(int* x) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  x[i] = x[i + 1] + 1;
}
__global__ void no_barrier(int* x) {
  x[threadIdx.x] = threadIdx.x + 1;
  x[threadIdx.x + 128] = x[127 - threadIdx.x];
}
__global__ void blocks_differ(int* x) { *x = blockIdx.x + 1; }
__global__ void read_by_many(int* x) {
  x[blockIdx.x * blockDim.x + threadIdx.x + 1] = x[0];
  if (blockIdx.x == 1 && threadIdx.x == 0) x[0] = 77;
}
struct Record {
  int words[5];
};
__global__ void records_differ(Record* x) { x[0] = {{1, 2, 3, 4, int(blockIdx.x)}}; }
__global__ void read_by_both(int* x) { x[x[0] < 0 || threadIdx.x != 32] = 1000; }
__global__ void grid_stride(int* x, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) x[i] = 2 * x[i] + 1;
}
__global__ void atomics(int* x) { atomicAdd(x, 1 + threadIdx.x); }
__global__ void barrier(int* x) {
  x[threadIdx.x] = 3 * threadIdx.x;
  __syncthreads();
  x[threadIdx.x + 128] = x[127 - threadIdx.x];
}
__global__ void same_value(int* x) { *x = 5; }
__global__ void same_values(int* x) { x[threadIdx.x] = 5; }
__global__ void same_record(Record* x) { x[0] = {{1, 2, 3, 4, 5}}; }
__global__ void bytes(char* x) { x[threadIdx.x % 32 * 4 + threadIdx.x / 32] = char(threadIdx.x + 1); }
__device__ unsigned done;
__global__ void last_block(int* x, int* sum) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    x[blockIdx.x] = blockIdx.x + 1;
    __threadfence();
    last = atomicInc(&done, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    *sum = 0;
    for (unsigned i = 0; i < gridDim.x; ++i) *sum += x[i];
  }
}
__global__ void flag(int* x) {
  volatile int* const ready = x + 1;
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    x[0] = 99;
    __threadfence();
    *ready = 1;
  }
  if (blockIdx.x == 1 && threadIdx.x == 0) {
    while (*ready == 0) {
    }
    x[2] = x[0];
  }
}

int main() {
  int* x;
  cudaMalloc(&x, 1 << 16);
  cudaMemset(x, 0, 1 << 16);
  rows<<<1, dim3(32, 8)>>>(reinterpret_cast<float*>(x));
  in_place<<<2, 64>>>(x);
  no_barrier<<<1, 128>>>(x);
  blocks_differ<<<2, 1>>>(x);
  read_by_many<<<3, 32>>>(x);
  records_differ<<<2, 1>>>(reinterpret_cast<Record*>(x));
  read_by_both<<<1, 64>>>(x);

  grid_stride<<<4, 64>>>(x, 4096);
  grid_stride<<<2, 32>>>(x, 4096);
  atomics<<<4, 64>>>(x);
  barrier<<<1, 128>>>(x);
  same_value<<<4, 64>>>(x);
  for (int i = 0; i < 1000; ++i) {
    cudaMemset(x, i, 4096);
    same_values<<<2, 1024>>>(x);
  }
  same_record<<<4, 64>>>(reinterpret_cast<Record*>(x));
  bytes<<<1, 128>>>(reinterpret_cast<char*>(x));
  last_block<<<8, 64>>>(x, x + 100);
  int sum = 0;
  cudaMemcpy(&sum, x + 100, 4, cudaMemcpyDeviceToHost);
  cudaMemset(x, 0, 12);
  flag<<<2, 32>>>(x);
  printf("%d %s\n", sum, cudaGetErrorString(cudaDeviceSynchronize()));
  cudaFree(x);
}
