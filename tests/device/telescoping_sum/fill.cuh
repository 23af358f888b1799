// SPDX-License-Identifier: MIT-0
//
// Words whose sums are known without adding them up: out[i] = f(i + stride) - f(i), where f is a hash. If every
// stride-th word counts, those before the i-th add up to f(i) - f(i mod stride). With stride 0 the words are f(i).
//
// Contract
//   launch  any number of blocks of exactly BLOCK threads
//   out     n words
//   n       any, including 0
//   seed    less than 2^24: another seed is another f

__global__ void __launch_bounds__(256) telescoping_sum_fill(unsigned* out, size_t n, size_t stride, size_t seed) {
  constexpr unsigned BLOCK = 256;  // threads per block
  const auto f = [](size_t i, size_t seed) {
    unsigned long long z = (i + (seed << 40) + 1) * 0x9E3779B97F4A7C15;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return unsigned(z ^ (z >> 31));
  };

  for (size_t i = size_t(blockIdx.x) * BLOCK + threadIdx.x; i < n; i += size_t(gridDim.x) * BLOCK) {
    out[i] = f(i + stride, seed) - (stride == 0 ? 0 : f(i, seed));
  }
}
