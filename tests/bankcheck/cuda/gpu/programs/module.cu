// Compiled to PTX, which the program `modules` loads.

/// A store and a load of 4 passes each.
extern "C" __global__ void in_module(unsigned* out) {
  __shared__ volatile unsigned quads[4 * 32];
  quads[4 * threadIdx.x] = 1000 * blockIdx.x + threadIdx.x;     // 4-way store
  out[32 * blockIdx.x + threadIdx.x] = quads[4 * threadIdx.x];  // 4-way load
}
