// Calls that do not compile, one for each macro. Without a macro, the same call is right.
#include <bankwise/emulator/cuda.hpp>

__global__ void scale(float* values, unsigned n, float factor) {
  if (threadIdx.x < n) values[threadIdx.x] *= factor;
}

void call(float* values) {
#if defined TOO_FEW
  bankwise::emulate(scale, {.block = 32}, values, 32);
#elif defined WRONG_TYPE
  bankwise::emulate(scale, {.block = 32}, values, values, 2.0F);
#else
  bankwise::emulate(scale, {.block = 32}, values, 32, 2.0F);
#endif
}
