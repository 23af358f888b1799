// SPDX-License-Identifier: MIT-0
//
// The tree of naive.cuh on records of five words: one word of padding a record, and the stride becomes odd.
//
//   lanes  As in sequential.cuh.
//   banks  Component c of thread t is word 5t + c. 5 is odd, so 32 lanes meet in 32 banks: no conflict.
//          The price: alignment 4 splits every 16-byte access into four. Where the hardware serves 16 bytes a lane
//          without conflict (NVIDIA since Volta) sequential.cuh needs fewer passes, 135 a block to 180 here.
//   The record must be packed, or uint4's alignment of 16 makes it eight words long, stride 8. And aligned(4), or
//   packed means alignment 1, and a compiler may go byte by byte. Component by component, because nvcc 13.0 turns
//   `uint4 a = part[lane].data` into one 16-byte load, as if the member were aligned to 16, and the kernel faults.
//
// Contract
//   launch  max(1, ceil(n / BLOCK)) blocks of exactly BLOCK threads, one-dimensional
//   in      n records, 16-byte aligned; not read when n is 0
//   out     one record per block: the sum of in[block * BLOCK .. block * BLOCK + BLOCK), as far as n reaches
//   n       any, including 0, which gives one zero record
// For the sum of everything reduce `out` again, into other memory, until one record is left.

__global__ void __launch_bounds__(256) reduce_packed(const uint4* __restrict__ in, uint4* __restrict__ out, size_t n) {
  constexpr unsigned BLOCK = 256;  // threads per block, records per tile; a power of two

  struct __attribute__((packed, aligned(4))) Record {
    uint4 data;
    unsigned pad;
  };
  static_assert(sizeof(Record) == 20 && alignof(Record) == 4, "five words");
  __shared__ Record part[BLOCK];

  const unsigned tid = threadIdx.x;
  const size_t i = size_t(blockIdx.x) * BLOCK + tid;
  const uint4 mine = i < n ? in[i] : make_uint4(0, 0, 0, 0);

  // --- shared-memory section ---
  part[tid].data.x = mine.x;
  part[tid].data.y = mine.y;
  part[tid].data.z = mine.z;
  part[tid].data.w = mine.w;
  __syncthreads();
  for (unsigned stride = BLOCK / 2; stride > 0; stride /= 2) {
    if (tid < stride) {
      part[tid].data.x += part[tid + stride].data.x;
      part[tid].data.y += part[tid + stride].data.y;
      part[tid].data.z += part[tid + stride].data.z;
      part[tid].data.w += part[tid + stride].data.w;
    }
    __syncthreads();  // outside the branch: every thread must arrive
  }
  // --- end of section ---

  if (tid == 0) {
    out[blockIdx.x] = make_uint4(part[0].data.x, part[0].data.y, part[0].data.z, part[0].data.w);
  }
}
