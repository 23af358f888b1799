// SPDX-License-Identifier: MIT-0
//
// Words whose sums are known without adding them up: out[i] = f(i + stride) - f(i), where f is a hash. If every
// stride-th word counts, those before the i-th add up to f(i) - f(i mod stride). With stride 0 the words are f(i).
//
// Contract
//   launch  any number of groups of exactly BLOCK work-items
//   out     n words
//   n       any, including 0
//   seed    less than 2^24: another seed is another f

#define BLOCK 256u  // work-items per group

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
