// Allocates in the streams' order, and managed memory, and prints what it computes. The tool's own memory must not
// change that.
#include "common.cuh"

namespace {

/// Adds up `count` words of the block's part in shared memory.
__global__ void sums(const unsigned* from, unsigned* to, unsigned count) {
  __shared__ unsigned partial[256];
  unsigned sum = 0;
  for (unsigned i = threadIdx.x; i < count; i += 256) sum += from[count * blockIdx.x + i];
  partial[threadIdx.x] = sum;
  for (unsigned half = 128; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
  }
  if (threadIdx.x == 0) to[blockIdx.x] = partial[0];
}

__global__ void fill(unsigned* words, unsigned count, unsigned seed) {
  const unsigned i = blockDim.x * blockIdx.x + threadIdx.x;
  if (i < count) words[i] = (i + seed) * 2654435761U >> 7;
}

constexpr unsigned blocks = 64, words_of_block = 4096;

void print_sums(const unsigned* sum) {
  for (unsigned i = 0; i < blocks; ++i) std::printf("%u\n", sum[i]);
}

/// 200 rounds of allocations of different sizes in 4 streams.
void pool() {
  cudaStream_t streams[4];
  for (cudaStream_t& stream : streams) CHECK(cudaStreamCreate(&stream));
  for (unsigned round = 0; round < 200; ++round) {
    const cudaStream_t stream = streams[round % 4];
    unsigned *words = nullptr, *result = nullptr;
    const unsigned part = words_of_block - 16 * (round % 8);
    CHECK(cudaMallocAsync(&words, std::size_t{4} * blocks * part, stream));
    CHECK(cudaMallocAsync(&result, 4 * blocks, stream));
    fill<<<blocks * part / 256 + 1, 256, 0, stream>>>(words, blocks * part, round);
    sums<<<blocks, 256, 0, stream>>>(words, result, part);
    unsigned sum[blocks];
    CHECK(cudaMemcpyAsync(sum, result, sizeof sum, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaFreeAsync(words, stream));
    CHECK(cudaFreeAsync(result, stream));
    CHECK(cudaStreamSynchronize(stream));
    print_sums(sum);
  }
}

void managed() {
  unsigned *words = nullptr, *result = nullptr;
  CHECK(cudaMallocManaged(&words, std::size_t{4} * blocks * words_of_block));
  CHECK(cudaMallocManaged(&result, 4 * blocks));
  std::memset(words, 0, std::size_t{4} * blocks * words_of_block);
  for (unsigned round = 0; round < 20; ++round) {
    for (unsigned i = 0; i < blocks * words_of_block; i += 97)
      words[i] = i + round;  // the pages move to the host and back
    sums<<<blocks, 256>>>(words, result, words_of_block);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    print_sums(result);
  }
}

constexpr Mode modes[] = {{"pool", pool}, {"managed", managed}};

}  // namespace

int main(int count, char** arguments) { return play(modes, count, arguments); }
