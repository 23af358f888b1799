// SPDX-License-Identifier: MIT-0
//
// Fourier transform of POINTS complex numbers: radix 2, in place, from bit-reversed order, with a table of the roots of
// unity in shared memory. Every operation is rounded by itself, so that the result is the same to the last bit
// anywhere.
//
//   lanes  One butterfly each, in every stage.
//   banks  8-byte accesses, a half-warp at a time. Bit-reversed, its numbers lie in one pair of banks: 16-way
//          conflicts. Butterflies skip every other `half` numbers, which is a 2-way conflict for a half below 16. Their
//          roots lie a power of two apart: with a half of 16 there are sixteen different ones in one pair of banks.
//
// Contract
//   launch  any number of blocks of BLOCK threads, one-dimensional
//   in      SLICE words per block, of which the first POINTS are read: the real part in the lower half, the imaginary
//           part in the upper half, both signed integers
//   out     POINTS complex numbers per block in natural order; 8-byte aligned

namespace more_fft_detail {

constexpr unsigned BLOCK = 256;         // threads; a power of two
constexpr unsigned POINTS = 2 * BLOCK;  // of the transform
constexpr unsigned STAGES = 9;          // log2(POINTS)
constexpr unsigned SLICE = 4096;        // words of input per block

// e^(-2 pi i 2^b / POINTS) for b = 0, 1 ...: each other root is a product of these.
static __constant__ float2 ROOTS[STAGES - 1] = {
    {0.9999247f, -0.012271538f}, {0.9996988f, -0.024541229f}, {0.99879545f, -0.049067676f}, {0.9951847f, -0.09801714f},
    {0.98078525f, -0.19509032f}, {0.9238795f, -0.38268343f},  {0.70710677f, -0.70710677f},  {0.0f, -1.0f}};

static __device__ float2 product(float2 a, float2 b) {
  return make_float2(__fsub_rn(__fmul_rn(a.x, b.x), __fmul_rn(a.y, b.y)),
                     __fadd_rn(__fmul_rn(a.x, b.y), __fmul_rn(a.y, b.x)));
}

static __device__ float2 number(unsigned word) {
  return make_float2(float(short(word & 0xFFFF)), float(short(word >> 16)));
}

}  // namespace more_fft_detail

__global__ void __launch_bounds__(more_fft_detail::BLOCK)
    more_fft(const unsigned* __restrict__ in, float2* __restrict__ out) {
  using namespace more_fft_detail;
  __shared__ float2 data[POINTS];
  __shared__ float2 roots[POINTS / 2];

  const unsigned tid = threadIdx.x;
  const unsigned* from = in + size_t(blockIdx.x) * SLICE;
  float2* to = out + size_t(blockIdx.x) * POINTS;

  float2 root = make_float2(1, 0);
  for (unsigned b = 0; b < STAGES - 1; ++b) {
    if (tid >> b & 1) root = product(root, ROOTS[b]);
  }
  roots[tid] = root;
  data[__brev(tid) >> (32 - STAGES)] = number(from[tid]);
  data[__brev(tid + BLOCK) >> (32 - STAGES)] = number(from[tid + BLOCK]);

#pragma unroll 1  // the body is long enough: nine of it would only be more to fetch
  for (unsigned half = 1; half < POINTS; half *= 2) {
    __syncthreads();
    const unsigned place = tid % half;
    const unsigned upper = 2 * tid - place;
    const unsigned lower = upper + half;
    const float2 a = data[upper];
    const float2 b = product(data[lower], roots[place * (POINTS / 2 / half)]);
    data[upper] = make_float2(__fadd_rn(a.x, b.x), __fadd_rn(a.y, b.y));
    data[lower] = make_float2(__fsub_rn(a.x, b.x), __fsub_rn(a.y, b.y));
  }
  __syncthreads();
  to[tid] = data[tid];
  to[tid + BLOCK] = data[tid + BLOCK];
}
