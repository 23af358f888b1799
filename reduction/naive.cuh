// SPDX-License-Identifier: MIT-0
//
// Parallel reduction with 4-way bank conflicts: sequential addressing by 32-bit accesses at a stride of four words.
// Hardware that splits 16-byte accesses into words makes the same accesses (fsword73, "Bank conflicts in reduction and
// prefix sum", on a Radeon HD 5870). Sums each tile of BLOCK uint4 records, component-wise, modulo 2^32.
//
// Changed against sequential.cuh: each component of a record is loaded and stored separately.
//
//   lanes  As in sequential.cuh.
//   banks  Component c of thread t is word 4t + c: stride 4, so 32 lanes access 8 banks, four lanes per bank. That is a
//          4-way conflict wherever 32 lanes are active. The record has alignment 4, which keeps the compiler from
//          merging the four 32-bit accesses of the tree into one 16-byte access.
//
// Contract
//   launch  max(1, ceil(n / BLOCK)) blocks of exactly BLOCK threads, one-dimensional
//   in      n records, 16-byte aligned; not read when n is 0
//   out     one record per block: the sum of in[b * BLOCK .. min((b + 1) * BLOCK, n)) for block b
//   n       any, including 0, which gives one record of zeros
// To sum all n records, launch the kernel again on `out`, into another buffer, until one record is left.

__global__ void __launch_bounds__(256) reduce_naive(const uint4* __restrict__ in, uint4* __restrict__ out, size_t n) {
  constexpr unsigned BLOCK = 256;  // threads per block, records per tile; a power of two

  struct Record {
    unsigned x, y, z, w;
  };
  static_assert(sizeof(Record) == 16 && alignof(Record) == 4, "four words");
  __shared__ Record part[BLOCK];

  const unsigned tid = threadIdx.x;
  const size_t i = size_t(blockIdx.x) * BLOCK + tid;
  // load one record per thread, coalesced; zero past the end
  const uint4 mine = i < n ? in[i] : make_uint4(0, 0, 0, 0);

  // --- shared-memory section ---
  // store to shared memory, word by word: stride 4
  part[tid].x = mine.x;
  part[tid].y = mine.y;
  part[tid].z = mine.z;
  part[tid].w = mine.w;
  __syncthreads();
  // tree in shared memory, sequential addressing: 4-way bank conflicts
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

  // thread 0 stores the block's partial sum
  if (tid == 0) out[blockIdx.x] = make_uint4(part[0].x, part[0].y, part[0].z, part[0].w);
}
