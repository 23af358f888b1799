// Compiled into the program same_name.

static __global__ void same(unsigned* out) {
  __shared__ volatile unsigned pairs[2 * 32];
  pairs[2 * threadIdx.x] = 1000 * blockIdx.x + threadIdx.x;     // there: 2-way store
  out[32 * blockIdx.x + threadIdx.x] = pairs[2 * threadIdx.x];  // there: 2-way load
}

void launch(void (*kernel)(unsigned*), unsigned blocks);  // in same_name.cu

void run_the_other() { launch(same, 5); }
