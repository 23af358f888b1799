// SPDX-License-Identifier: MIT-0
//
// Parallel reduction with a grid-stride loop and persistent blocks, DRAM-bound: many records per thread, as in Harris
// 2007, "Optimizing Parallel Reduction in CUDA", kernel 7. Sums uint4 records, component-wise, modulo 2^32; a second
// launch adds the blocks' sums.
//
// Changed against shuffle.cuh: as many blocks as the device holds at once; each thread adds many records in registers
// before the tree.
//
//   lanes  The tree is negligible here; throughput is set by the bytes in flight. In each iteration a thread issues
//          LOADS 16-byte loads before it uses the first. To saturate DRAM, an H200 needs about 48 KB in flight per SM;
//          two resident blocks have 128 KiB. Out-of-range loads are predicated off, so small inputs use the same code
//          and take one iteration. Once per block, each warp adds its threads' sums component by component, with
//          __reduce_add_sync (compute capability 8.0 and newer) or shuffles, and the first warp adds the warps' sums as
//          in shuffle.cuh.
//   banks  Lane 0 of each of the 16 warps stores a sum, and 16 lanes of the first warp read them in one access,
//          words 4t .. 4t + 3: no conflict, and 18 passes (NVIDIA: wavefronts) per block for any number of records.
//
// Contract
//   launch  any number of blocks of exactly BLOCK threads, one-dimensional: two per multiprocessor (SM), but at most
//           ceil(n / BLOCK), and at least one
//   in      n records, 16-byte aligned; not read when n is 0
//   out     one record per block; together they add up to the sum of all records. Block b sums the records b * BLOCK ..
//           b * BLOCK + BLOCK - 1, and that range shifted by every multiple of gridDim.x * BLOCK
//   n       any, including 0, which gives records of zeros
// To sum all n records, launch the kernel again on `out` with one block, into another buffer.

namespace reduce_streaming_detail {

constexpr unsigned BLOCK = 512;  // threads per block; a multiple of 32, at most 1024
constexpr unsigned LOADS = 8;    // 16-byte loads in flight per thread
constexpr unsigned WARP = 32;
constexpr unsigned WARPS = BLOCK / WARP;

static __device__ uint4 add(uint4 a, uint4 b) { return make_uint4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w); }

// Sum over a warp, returned in lane 0. All lanes must call it.
static __device__ unsigned warp_sum(unsigned word) {
#if __CUDA_ARCH__ >= 800
  return __reduce_add_sync(0xFFFFFFFF, word);
#else
  for (unsigned lanes = WARP / 2; lanes > 0; lanes /= 2) word += __shfl_down_sync(0xFFFFFFFF, word, lanes);
  return word;
#endif
}
static __device__ uint4 warp_sum(uint4 record) {
  return make_uint4(warp_sum(record.x), warp_sum(record.y), warp_sum(record.z), warp_sum(record.w));
}

}  // namespace reduce_streaming_detail

// minBlocksPerMultiprocessor = 2: otherwise ptxas targets four blocks per SM, and has too few registers for eight loads
// in flight.
__global__ void __launch_bounds__(reduce_streaming_detail::BLOCK, 2)
    reduce_streaming(const uint4* __restrict__ in, uint4* __restrict__ out, size_t n) {
  using namespace reduce_streaming_detail;
  __shared__ uint4 part[WARPS];

  const unsigned tid = threadIdx.x;
  const size_t step = size_t(gridDim.x) * BLOCK;
  uint4 mine = make_uint4(0, 0, 0, 0);
  // grid-stride loop, coalesced; cache-streaming loads (__ldcs)
  for (size_t i = size_t(blockIdx.x) * BLOCK + tid; i < n; i += LOADS * step) {
    uint4 record[LOADS];
#pragma unroll
    for (unsigned k = 0; k < LOADS; ++k) {  // all loads are issued before the first addition
      record[k] = i + k * step < n ? __ldcs(&in[i + k * step]) : make_uint4(0, 0, 0, 0);
    }
#pragma unroll
    for (unsigned k = 0; k < LOADS; ++k) mine = add(mine, record[k]);
  }
  uint4 sum = make_uint4(0, 0, 0, 0);

  // --- shared-memory section ---
  // warp sums by warp intrinsics; lane 0 of each warp stores one
  sum = warp_sum(mine);
  if (tid % WARP == 0) part[tid / WARP] = sum;
  __syncthreads();
  // the first warp adds the warps' sums
  if (tid < WARP) sum = warp_sum(tid < WARPS ? part[tid] : make_uint4(0, 0, 0, 0));
  // --- end of section ---

  // thread 0 stores the block's partial sum
  if (tid == 0) out[blockIdx.x] = sum;
}
