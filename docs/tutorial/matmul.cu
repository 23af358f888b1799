// A matrix product, c = a * transpose(b), and a main program that checks it.
#include <cstdio>
#include <vector>

constexpr int TILE = 32, N = 64;  // N is a multiple of TILE

__global__ void matmul(const float* a, const float* b, float* c) {
  __shared__ float a_tile[TILE][TILE];
  __shared__ float b_tile[TILE][TILE];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * TILE + ty, column = blockIdx.x * TILE + tx;

  float sum = 0;
  for (int k = 0; k < N; k += TILE) {
    a_tile[ty][tx] = a[row * N + k + tx];
    b_tile[ty][tx] = b[(blockIdx.x * TILE + ty) * N + k + tx];
    __syncthreads();
    for (int i = 0; i < TILE; ++i) sum += a_tile[ty][i] * b_tile[tx][i];
    __syncthreads();
  }
  c[row * N + column] = sum;
}

int main() {
  std::vector<float> a(N * N), b(N * N), c(N * N);
  for (int i = 0; i < N * N; ++i) a[i] = i * i % 17, b[i] = i * i % 13;  // small integers: every sum is exact

  const size_t bytes = N * N * sizeof(float);
  float *device_a, *device_b, *device_c;
  cudaMalloc(&device_a, bytes);
  cudaMalloc(&device_b, bytes);
  cudaMalloc(&device_c, bytes);
  cudaMemcpy(device_a, a.data(), bytes, cudaMemcpyHostToDevice);
  cudaMemcpy(device_b, b.data(), bytes, cudaMemcpyHostToDevice);
  matmul<<<dim3(N / TILE, N / TILE), dim3(TILE, TILE)>>>(device_a, device_b, device_c);
  cudaMemcpy(c.data(), device_c, bytes, cudaMemcpyDeviceToHost);

  for (int i = 0; i < N * N; ++i) {
    float expected = 0;
    for (int k = 0; k < N; ++k) expected += a[i / N * N + k] * b[i % N * N + k];
    if (c[i] != expected) return 1;
  }
  std::puts("the product is right");
}
