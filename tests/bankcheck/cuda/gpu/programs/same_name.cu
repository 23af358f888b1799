// Two sources, which are two modules, have a kernel of the same name: 3 blocks of this one, 5 of the other.
#include "common.cuh"

void run_the_other();  // in same_name_other.cu

/// For that file.
void launch(Kernel kernel, unsigned blocks) { run(kernel, blocks); }

static __global__ void same(unsigned* out) {
  __shared__ volatile unsigned tile[32 * 32];
  tile[32 * threadIdx.x] = value_of(blockIdx.x, threadIdx.x);   // here: 32-way store
  out[32 * blockIdx.x + threadIdx.x] = tile[32 * threadIdx.x];  // here: 32-way load
}

int main() {
  run(same, 3);
  run_the_other();
  return 0;
}
