// Device cuRAND: the numbers of generators whose definitions are public. Prints "right" if all are.
#include <curand.h>
#include <curand_kernel.h>

#include <cstdio>

__global__ void generate(unsigned* philox, unsigned* xorwow, float* uniform) {
  curandStatePhilox4_32_10_t a;
  curand_init(0, 0, 0, &a);
  for (int i = 0; i < 4; ++i) philox[i] = curand(&a);
  curandState b;
  curand_init(1234, threadIdx.x, 0, &b);
  if (threadIdx.x == 0) {
    for (int i = 0; i < 4; ++i) xorwow[i] = curand(&b);
  }
  curandState c;
  curand_init(1234, threadIdx.x, 2, &c);
  uniform[threadIdx.x] = curand_uniform(&c);
}

int main() {
  unsigned *philox, *xorwow;
  float* uniform;
  cudaMallocManaged(&philox, 4 * sizeof(unsigned));
  cudaMallocManaged(&xorwow, 4 * sizeof(unsigned));
  cudaMallocManaged(&uniform, 32 * sizeof(float));
  generate<<<1, 32>>>(philox, xorwow, uniform);
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  // The known answer of Random123 for philox4x32_10 with counter 0 and key 0.
  const unsigned known[]{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8};
  bool right = true;
  for (int i = 0; i < 4; ++i) right &= philox[i] == known[i];
  // Marsaglia's xorwow, from the state that cuRAND makes of a seed of 32 bits.
  const unsigned s0 = 1234 ^ 0xaad26b49, s1 = 0xf7dcefdd, t0 = 1099087573 * s0, t1 = 2591861531 * s1;
  unsigned v[]{123456789 + t0, 362436069 ^ t0, 521288629 + t1, 88675123 ^ t1, 5783321 + t0}, d = 6615241 + t1 + t0;
  for (int i = 0; i < 4; ++i) {
    const unsigned t = v[0] ^ v[0] >> 2;
    for (int k = 0; k < 4; ++k) v[k] = v[k + 1];
    v[4] = (v[4] ^ v[4] << 4) ^ (t ^ t << 1);
    d += 362437;
    right &= xorwow[i] == v[4] + d;
    if (i == 2) right &= uniform[0] == float(v[4] + d) * 2.3283064e-10F + 2.3283064e-10F / 2;
  }
  right &= uniform[1] != uniform[0];  // another sequence
  std::puts(right ? "right" : "wrong");
}
