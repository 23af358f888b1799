// SPDX-License-Identifier: MIT-0
//
// sequential.cuh one component at a time: what a 16-byte record costs where words are served one by one.
//
//   lanes  As in sequential.cuh.
//   banks  Component c of lane t is word 4t + c: stride 4, so 32 lanes meet in 8 banks, four in each. 4-way conflicts
//          wherever 32 lanes work. The record has an alignment of 4, which keeps a compiler from merging the four
//          words of the tree into one access.
//
// Contract
//   launch  max(1, ceil(n / BLOCK)) blocks of exactly BLOCK threads, one-dimensional
//   in      n records, 16-byte aligned; not read when n is 0
//   out     one record per block: the sum of in[block * BLOCK .. block * BLOCK + BLOCK), as far as n reaches
//   n       any, including 0, which gives one zero record
// For the sum of everything reduce `out` again, into other memory, until one record is left.

constexpr unsigned BLOCK = 256;  // threads per block, records per tile; a power of two

__global__ void __launch_bounds__(BLOCK) reduce_naive(const uint4* __restrict__ in, uint4* __restrict__ out, size_t n) {
  struct Record {
    unsigned x, y, z, w;
  };
  static_assert(sizeof(Record) == 16 && alignof(Record) == 4, "four words");
  __shared__ Record part[BLOCK];

  const unsigned lane = threadIdx.x;
  const size_t i = size_t(blockIdx.x) * BLOCK + lane;
  const uint4 mine = i < n ? in[i] : make_uint4(0, 0, 0, 0);

  // --- shared-memory section ---
  part[lane].x = mine.x;
  part[lane].y = mine.y;
  part[lane].z = mine.z;
  part[lane].w = mine.w;
  __syncthreads();
  for (unsigned stride = BLOCK / 2; stride > 0; stride /= 2) {
    if (lane < stride) {
      part[lane].x += part[lane + stride].x;
      part[lane].y += part[lane + stride].y;
      part[lane].z += part[lane + stride].z;
      part[lane].w += part[lane + stride].w;
    }
    __syncthreads();  // outside the branch: every lane must arrive
  }
  // --- end of section ---

  if (lane == 0) out[blockIdx.x] = make_uint4(part[0].x, part[0].y, part[0].z, part[0].w);
}
