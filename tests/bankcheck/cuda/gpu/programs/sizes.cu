// Programs for options: several kernels, a large grid, and more patterns than a table holds.
#include "common.cuh"

namespace {

__host__ __device__ inline unsigned hash(unsigned value) {
  value = (value ^ value >> 16) * 0x85ebca6bU;
  value = (value ^ value >> 13) * 0xc2b2ae35U;
  return value ^ value >> 16;
}

constexpr unsigned words = 8192;

/// `rounds` loads of each warp; each lane reads a word that looks random, so hardly two accesses are equal.
__global__ void scattered(unsigned* out, unsigned rounds, unsigned seed) {
  __shared__ volatile unsigned table[words];
  const unsigned thread = blockDim.x * blockIdx.x + threadIdx.x;
  unsigned sum = 0;
#pragma unroll 1
  for (unsigned i = 0; i < rounds; ++i) sum ^= table[hash(seed + thread * rounds + i) % words];  // scattered load
  if (sum == 1 && seed == 0xffffffff) out[0] = sum;  // what it sums is not defined, and never stored
}

void both() {
  run(ways_32, 3);
  run(ways_2, 7);
}

/// ways_32 with 1000 blocks, twice.
void large() {
  run(ways_32, 1000);
  run(ways_32, 1000);
}

/// 2000 blocks of 4 warps with 400 loads each: 3.2 million patterns in one launch.
void flood() {
  const Output out(1);
  scattered<<<2000, 128>>>(out.data, 400, 0);
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
}

/// 40 launches of 100 warps with 20 loads each, with pauses: 2000 patterns at a time.
void trickle() {
  const Output out(1);
  for (unsigned i = 0; i < 40; ++i) {
    scattered<<<25, 128>>>(out.data, 20, i << 20);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaDeviceSynchronize());
  }
}

constexpr Mode modes[] = {{"both", both}, {"large", large}, {"flood", flood}, {"trickle", trickle}};

}  // namespace

int main(int count, char** arguments) { return play(modes, count, arguments); }
