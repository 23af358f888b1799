// Adds up many words of DRAM, and at the end of each block a few with conflicts: no layout makes it faster.
#include <cstdio>

__global__ void sums(const uint4* in, unsigned* out, unsigned count) {
  __shared__ unsigned partial[256 * 4];
  unsigned sum = 0;
  for (unsigned i = blockIdx.x * 256 + threadIdx.x; i < count; i += gridDim.x * 256) {
    const uint4 word = in[i];
    sum += word.x + word.y + word.z + word.w;
  }
  partial[threadIdx.x * 4] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (unsigned i = 1; i < 256; ++i) sum += partial[i * 4];
    out[blockIdx.x] = sum;
  }
}

int main() {
  constexpr unsigned blocks = 1056, count = 1 << 24;  // 256 MiB
  uint4* in = nullptr;
  unsigned *out = nullptr, sums_of_blocks[blocks];
  cudaMalloc(&in, sizeof(uint4) * count);
  cudaMalloc(&out, sizeof sums_of_blocks);
  cudaMemset(in, 7, sizeof(uint4) * count);
  for (int launch = 0; launch < 10; ++launch) sums<<<blocks, 256>>>(in, out, count);
  cudaMemcpy(sums_of_blocks, out, sizeof sums_of_blocks, cudaMemcpyDeviceToHost);
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  unsigned sum = 0;
  for (const unsigned block : sums_of_blocks) sum += block;
  std::printf("sum %u\n", sum);
}
