// SPDX-License-Identifier: MIT-0
//
// Parallel reduction, bank conflicts fixed by padding: packed 20-byte records (uint4 and one padding word). Reference:
// fsword73, "Bank conflicts in reduction and prefix sum" (Radeon HD 5870). Sums each tile of BLOCK uint4 records,
// component-wise, modulo 2^32.
//
// Changed against naive.cuh: a record takes five words instead of four, an odd stride.
//
//   lanes  As in sequential.cuh.
//   banks  Component c of thread t is word 5t + c. 5 is odd, so 32 lanes access 32 banks: no conflict. The price: with
//          alignment 4, every 16-byte access becomes four 32-bit accesses. Where the hardware serves 16 bytes per lane
//          without conflicts (NVIDIA since Volta), sequential.cuh takes fewer passes (NVIDIA: wavefronts): 135 per
//          block, compared with 180 here.
//   The record needs both attributes. Without `packed`, uint4's alignment of 16 makes it eight words long, stride 8.
//   Without `aligned(4)`, a packed record has alignment 1, and a compiler may access it byte by byte. The code adds
//   component by component because nvcc 13.0 compiles `uint4 a = part[tid].data` to one 16-byte load, as if the member
//   were aligned to 16, and the kernel faults.
//
// Contract
//   launch  max(1, ceil(n / BLOCK)) blocks of exactly BLOCK threads, one-dimensional
//   in      n records, 16-byte aligned; not read when n is 0
//   out     one record per block: the sum of in[b * BLOCK .. min((b + 1) * BLOCK, n)) for block b
//   n       any, including 0, which gives one record of zeros
// To sum all n records, launch the kernel again on `out`, into another buffer, until one record is left.

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
  // load one record per thread, coalesced; zero past the end
  const uint4 mine = i < n ? in[i] : make_uint4(0, 0, 0, 0);

  // --- shared-memory section ---
  // store to shared memory, padded to five words
  part[tid].data.x = mine.x;
  part[tid].data.y = mine.y;
  part[tid].data.z = mine.z;
  part[tid].data.w = mine.w;
  __syncthreads();
  // tree in shared memory, sequential addressing: stride 5, no bank conflicts
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

  // thread 0 stores the block's partial sum
  if (tid == 0) {
    out[blockIdx.x] = make_uint4(part[0].data.x, part[0].data.y, part[0].data.z, part[0].data.w);
  }
}
