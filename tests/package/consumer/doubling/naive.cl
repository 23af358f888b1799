// SPDX-License-Identifier: MIT-0
//
// Contract: ceil(n / BLOCK) groups of BLOCK work-items; out[i] = 2 * in[i] for i < n.

#define BLOCK 128u

__kernel void double_naive(__global const uint* in, __global uint* out, ulong n) {
  const size_t i = (size_t)get_group_id(0) * BLOCK + get_local_id(0);
  if (i < n) out[i] = 2 * in[i];
}
