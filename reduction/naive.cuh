// SPDX-License-Identifier: MIT-0
//
// sequential.cuh one component at a time: what a 16-byte record costs where words are served one by one.
//
//   lanes  As in sequential.cuh.
//   banks  Component c of thread t is word 4t + c: stride 4, so 32 lanes meet in 8 banks, four in each. 4-way conflicts
//          wherever 32 lanes work. The record has an alignment of 4, which keeps a compiler from merging the four
//          words of the tree into one access.
//
// Contract
//   launch  max(1, ceil(n / BLOCK)) blocks of exactly BLOCK threads, one-dimensional
//   in      n records, 16-byte aligned; not read when n is 0
//   out     one record per block: the sum of in[block * BLOCK .. block * BLOCK + BLOCK), as far as n reaches
//   n       any, including 0, which gives one zero record
// For the sum of everything reduce `out` again, into other memory, until one record is left.

__global__ void __launch_bounds__(256) reduce_naive(const uint4* __restrict__ in, uint4* __restrict__ out, size_t n) {
  constexpr unsigned BLOCK = 256;  // threads per block, records per tile; a power of two

  struct Record {
    unsigned x, y, z, w;
  };
  static_assert(sizeof(Record) == 16 && alignof(Record) == 4, "four words");
  __shared__ Record part[BLOCK];

  const unsigned tid = threadIdx.x;
  const size_t i = size_t(blockIdx.x) * BLOCK + tid;
  const uint4 mine = i < n ? in[i] : make_uint4(0, 0, 0, 0);

  // --- shared-memory section ---
  part[tid].x = mine.x;
  part[tid].y = mine.y;
  part[tid].z = mine.z;
  part[tid].w = mine.w;
  __syncthreads();
  for (unsigned stride = BLOCK / 2; stride > 0; stride /= 2) {
    if (tid < stride) {
      part[tid].x += part[tid + stride].x;
      part[tid].y += part[tid + stride].y;
      part[tid].z += part[tid + stride].z;
      part[tid].w += part[tid + stride].w;
    }
    __syncthreads();  // outside the branch: every thread must arrive
  }
  // --- end of section ---

  if (tid == 0) out[blockIdx.x] = make_uint4(part[0].x, part[0].y, part[0].z, part[0].w);
}
