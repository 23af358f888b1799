// SPDX-License-Identifier: MIT
//
// Asynchronous copies, with and without zeros in place of what is not read.

__global__ void copies(const uint4* from, uint4* to, unsigned n) {
  __shared__ uint4 tile[256];
  const auto at = unsigned(__cvta_generic_to_shared(tile + threadIdx.x));
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(at), "l"(from + threadIdx.x));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at), "l"(from + n));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(at), "l"(from + 2 * n), "r"(n));
  asm volatile("cp.async.wait_all;" ::: "memory");
  to[threadIdx.x] = tile[255 - threadIdx.x];
}
