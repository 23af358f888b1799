// SPDX-License-Identifier: MIT-0
//
// Single-pass parallel reduction in one launch: a grid-stride loop, and 64-bit atomics that add the blocks' sums and
// detect the last block. (The CUDA sample threadFenceReduction detects the last block with a counter and a memory
// fence, and lets it add the blocks' sums.) Sums n uint4 records, component-wise, modulo 2^32.
//
// Changed against streaming.cuh: atomics add the blocks' sums, so there is no second launch.
//
//   lanes  As in streaming.cuh. Then four threads of each block add one component each to a 64-bit word of `state`. Its
//          upper 16 bits hold the number of blocks so far, its lower 48 bits the sum of their sums. Count and sum share
//          one word and are updated by a single atomicAdd, so no memory fence is needed. The block whose atomicAdd
//          returns a count of gridDim.x - 1 is the last, and writes this component of the result. Additions modulo 2^32
//          give the same result in any order. Floating-point sums depend on the order: for these, store the blocks'
//          sums, and let the last block add them.
//   banks  As in streaming.cuh: no conflict, 18 passes (NVIDIA: wavefronts) per block.
//
// Contract
//   launch  up to 65535 blocks of exactly BLOCK threads, one-dimensional: two per multiprocessor (SM), but at most
//           ceil(n / BLOCK), and at least one
//   in      n records, 16-byte aligned; not read when n is 0
//   out     one record: the sum of all records
//   state   4 words of 8 bytes, 8-byte aligned, zero before the first launch; they are zero again when the kernel ends,
//           unless it was aborted. Only one launch at a time may use them
//   n       any, including 0, which gives a record of zeros

namespace reduce_single_pass_detail {

constexpr unsigned BLOCK = 512;  // threads per block; a multiple of 32, at most 1024
constexpr unsigned LOADS = 8;    // 16-byte loads in flight per thread
constexpr unsigned WARP = 32;
constexpr unsigned WARPS = BLOCK / WARP;
constexpr unsigned COUNT = 48;  // lowest bit of the block count in a word of `state`

static __device__ uint4 add(uint4 a, uint4 b) { return make_uint4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w); }

// Sum over a warp, returned in every lane. All lanes must call it.
static __device__ unsigned warp_sum(unsigned word) {
#if __CUDA_ARCH__ >= 800
  return __reduce_add_sync(0xFFFFFFFF, word);
#else
  for (unsigned bit = WARP / 2; bit > 0; bit /= 2) word += __shfl_xor_sync(0xFFFFFFFF, word, bit);
  return word;
#endif
}
static __device__ uint4 warp_sum(uint4 record) {
  return make_uint4(warp_sum(record.x), warp_sum(record.y), warp_sum(record.z), warp_sum(record.w));
}

}  // namespace reduce_single_pass_detail

// minBlocksPerMultiprocessor = 2: otherwise ptxas targets four blocks per SM, and has too few registers for eight loads
// in flight.
__global__ void __launch_bounds__(reduce_single_pass_detail::BLOCK, 2)
    reduce_single_pass(const uint4* __restrict__ in, uint4* __restrict__ out, unsigned long long* state, size_t n) {
  using namespace reduce_single_pass_detail;
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

  // warp sums by warp intrinsics; lane 0 of each warp stores one
  uint4 sum = warp_sum(mine);
  if (tid % WARP == 0) part[tid / WARP] = sum;
  __syncthreads();
  // the first warp adds the warps' sums
  if (tid < WARP) sum = warp_sum(tid < WARPS ? part[tid] : make_uint4(0, 0, 0, 0));

  // one atomic per component adds and counts this block's sum; the last block writes the result
  if (tid < 4) {
    const unsigned component = tid == 0 ? sum.x : tid == 1 ? sum.y : tid == 2 ? sum.z : sum.w;
    const unsigned long long before = atomicAdd(&state[tid], 1ULL << COUNT | component);
    if (before >> COUNT == gridDim.x - 1) {  // this block is the last
      reinterpret_cast<unsigned*>(out)[tid] = unsigned(before) + component;
      atomicExch(&state[tid], 0);  // reset for the next launch
    }
  }
}
