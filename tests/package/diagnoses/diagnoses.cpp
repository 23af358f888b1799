#include <cassert>
#include <iostream>
#include <vector>

#include <bankwise/emulator/cuda.hpp>

constexpr unsigned BLOCK = 64;

__global__ void barrier_in_a_branch(unsigned* out) {
  __shared__ unsigned data[BLOCK];
  data[threadIdx.x] = out[threadIdx.x];
  if (threadIdx.x < 40) {
    __syncthreads();
    out[threadIdx.x] = data[39 - threadIdx.x];
  }
}

__global__ void one_too_far(unsigned* out) {
  __shared__ unsigned data[BLOCK];
  data[threadIdx.x + 1] = out[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = data[threadIdx.x];
}

__global__ void half_is_never_written(unsigned* out) {
  __shared__ unsigned data[BLOCK];
  if (threadIdx.x < BLOCK / 2) data[threadIdx.x] = out[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = data[threadIdx.x];
}

__global__ void no_barrier(unsigned* out) {
  __shared__ unsigned data[BLOCK];
  data[threadIdx.x] = out[threadIdx.x];
  out[threadIdx.x] = data[threadIdx.x ^ 1];
}

__global__ void half_of_the_warp_votes(unsigned* out) {
  if (threadIdx.x % 32 < 16) out[threadIdx.x] = __ballot_sync(0xFFFFFFFF, out[threadIdx.x] != 0);
  __syncthreads();
}

__global__ void four_from_the_second(unsigned* out) {
  __shared__ unsigned data[4 * BLOCK + 1];
  for (unsigned i = threadIdx.x; i < 4 * BLOCK + 1; i += BLOCK) data[i] = i;
  __syncthreads();
  const uint4 four = *reinterpret_cast<const uint4*>(&data[4 * threadIdx.x + 1]);
  out[threadIdx.x] = four.x + four.w;
}

__global__ void never_ends(unsigned* out) {
  while (__ldcv(&out[threadIdx.x]) == 0) {
  }
}

__global__ void many_accesses(unsigned* out) {
  __shared__ unsigned data[BLOCK];
  for (unsigned i = 0; i < 1000; ++i) {
    data[threadIdx.x] = i;
    __syncthreads();
    out[threadIdx.x] += data[i % BLOCK];
    __syncthreads();
  }
}

__global__ void far_beyond(unsigned* out) { out[1ULL << 40] = 1; }

__global__ void quotient(unsigned* out) { out[threadIdx.x] = 1000 / (threadIdx.x % 32); }

__global__ void expects_one(unsigned* out) { assert(out[threadIdx.x] == 1); }

void show(void (*kernel)(unsigned*), bankwise::emulator::Launch launch = {}) {
  std::vector<unsigned> out(BLOCK);
  launch.block = BLOCK;
  try {
    bankwise::emulate(kernel, launch, out.data());
    std::cout << "nothing\n";
  } catch (const bankwise::emulator::Diagnosis& diagnosis) {
    std::cout << diagnosis.what() << '\n';
  }
}

int main() {
  show(barrier_in_a_branch);
  show(one_too_far);
  show(half_is_never_written);
  show(no_barrier);
  show(half_of_the_warp_votes);
  show(four_from_the_second);
  show(never_ends, {.step_limit = 1000});
  show(many_accesses, {.record_order = true, .access_limit = 1000});
  show(far_beyond);
  show(quotient);
  show(expects_one);
}
