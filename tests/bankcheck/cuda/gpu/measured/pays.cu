// Reads the columns of a tile many times: the kernel waits for its conflicts, and a layout without them is faster.
#include <cstdio>
#include <vector>

__global__ void columns(const unsigned* in, unsigned* out, int turns) {
  __shared__ unsigned tile[32][32];
  const unsigned x = threadIdx.x, y = threadIdx.y, i = (blockIdx.x * 32 + y) * 32 + x;
  unsigned sum = in[i];
  for (int turn = 0; turn < turns; ++turn) {
    tile[y][x] = sum;  // the turn before has read it
    __syncthreads();
    sum = 2 * sum + 3 * tile[x][y];  // odd factors: no bit gets lost
    __syncthreads();
  }
  out[i] = sum;
}

int main() {
  constexpr int blocks = 528, count = blocks * 1024;
  std::vector<unsigned> words(count);
  for (int i = 0; i < count; ++i) words[i] = unsigned(i) * 2654435761u;
  unsigned *in = nullptr, *out = nullptr;
  cudaMalloc(&in, 4 * count);
  cudaMalloc(&out, 4 * count);
  cudaMemcpy(in, words.data(), 4 * count, cudaMemcpyHostToDevice);
  for (int launch = 0; launch < 20; ++launch) columns<<<blocks, dim3(32, 32)>>>(in, out, 64);
  cudaMemcpy(words.data(), out, 4 * count, cudaMemcpyDeviceToHost);
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  unsigned long long sum = 0;
  for (int i = 0; i < count; ++i) sum = sum * 31 + words[i];
  std::printf("checksum %llu\n", sum);
}
