// SPDX-License-Identifier: MIT-0
//
// Contract: ceil(n / BLOCK) blocks of BLOCK threads; out[i] = 2 * in[i] for i < n.

constexpr unsigned BLOCK = 128;

__global__ void double_naive(const unsigned* in, unsigned* out, size_t n) {
  const size_t i = size_t(blockIdx.x) * BLOCK + threadIdx.x;
  if (i < n) out[i] = 2 * in[i];
}
