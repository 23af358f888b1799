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
//   launch  any number of groups of exactly BLOCK work-items
//   out     n words
//   got     n words of the result and `beyond` more, which must still hold POISON. All hold POISON afterwards
//   report  6 words, zero before the first check: how many words were wrong; and of the first of them the run, its
//           index (two words, the lower first), the value, and the expected value
//   n       any, including 0
//   seed    less than 2^24: another seed is another f

#define BLOCK 256u          // work-items per group
#define POISON 0xCDCDCDCDu  // an unwritten word

uint f(ulong i, ulong seed) {
  ulong z = (i + (seed << 40) + 1) * 0x9E3779B97F4A7C15ul;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ul;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBul;
  return (uint)(z ^ (z >> 31));
}

__kernel __attribute__((reqd_work_group_size(BLOCK, 1, 1)))
void telescoping_sum_fill(__global uint* out, ulong n, ulong stride, ulong seed) {
  for (ulong i = get_global_id(0); i < n; i += get_global_size(0)) {
    out[i] = f(i + stride, seed) - (stride == 0 ? 0 : f(i, seed));
  }
}

__kernel __attribute__((reqd_work_group_size(BLOCK, 1, 1)))
void telescoping_sum_check(__global uint* got, volatile __global uint* report, ulong n, ulong beyond, ulong height,
                           ulong width, ulong base, ulong stride, ulong seed, ulong run) {
  for (ulong i = get_global_id(0); i < n + beyond; i += get_global_size(0)) {
    uint right = POISON;
    if (i < n) {
      const ulong k = base + (height == 1 ? i : i % height * width + i / height);
      right = f(k, seed) - (stride == 0 ? 0 : f(i % stride, seed));
    }
    const uint found = got[i];
    if (found != right && atomic_inc(&report[0]) == 0) {
      report[1] = (uint)run;
      report[2] = (uint)i;
      report[3] = (uint)(i >> 32);
      report[4] = found;
      report[5] = right;
    }
    got[i] = POISON;
  }
}
