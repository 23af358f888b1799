// SPDX-License-Identifier: MIT-0
//
// Words whose sums are known without adding them up: fill makes out[i] = f(i + stride) - f(i), where f is a hash. If
// every stride-th word counts, those before the i-th add up to f(i) - f(i mod stride). With stride 0 the words are
// f(i).
//
// check compares a result with the formula, and poisons it for the next run: got[i] must be f(k) - f(i mod stride), or
// f(k) if stride is 0, with k = base + (i mod height) * width + i / height. For an exclusive prefix sum: height 1,
// width n, base 0. For a total: base n. For a transposed matrix: its height and width.
//
// Kernels: fill, check
//
// Contract
//   launch  any number of blocks of exactly BLOCK threads
//   out     n words
//   got     n words of the result and `beyond` more, which must still hold POISON. All hold POISON afterwards
//   report  6 words, zero before the first check: how many words were wrong; and of the first of them the run, its
//           index (two words, the lower first), the value, and the expected value
//   n       any, including 0
//   seed    less than 2^24: another seed is another f

namespace telescoping_sum_detail {

constexpr unsigned BLOCK = 256;          // threads per block
constexpr unsigned POISON = 0xCDCDCDCD;  // an unwritten word

static __device__ unsigned f(size_t i, size_t seed) {
  unsigned long long z = (i + (seed << 40) + 1) * 0x9E3779B97F4A7C15;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return unsigned(z ^ (z >> 31));
}

}  // namespace telescoping_sum_detail

__global__ void __launch_bounds__(256) telescoping_sum_fill(unsigned* out, size_t n, size_t stride, size_t seed) {
  using namespace telescoping_sum_detail;
  for (size_t i = size_t(blockIdx.x) * BLOCK + threadIdx.x; i < n; i += size_t(gridDim.x) * BLOCK) {
    out[i] = f(i + stride, seed) - (stride == 0 ? 0 : f(i, seed));
  }
}

__global__ void __launch_bounds__(256)
    telescoping_sum_check(unsigned* got, unsigned* report, size_t n, size_t beyond, size_t height, size_t width,
                          size_t base, size_t stride, size_t seed, size_t run) {
  using namespace telescoping_sum_detail;
  for (size_t i = size_t(blockIdx.x) * BLOCK + threadIdx.x; i < n + beyond; i += size_t(gridDim.x) * BLOCK) {
    unsigned right = POISON;
    if (i < n) {
      const size_t k = base + (height == 1 ? i : i % height * width + i / height);
      right = f(k, seed) - (stride == 0 ? 0 : f(i % stride, seed));
    }
    const unsigned found = got[i];
    if (found != right && atomicAdd(&report[0], 1) == 0) {
      report[1] = unsigned(run);
      report[2] = unsigned(i);
      report[3] = unsigned(i >> 32);
      report[4] = found;
      report[5] = right;
    }
    got[i] = POISON;
  }
}
