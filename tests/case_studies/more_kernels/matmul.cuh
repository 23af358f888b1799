// SPDX-License-Identifier: MIT-0
//
// Product of a block's two matrices, A times B transposed, modulo 2^32: both are read along rows, coalesced, and
// transposed as they are stored in shared memory, so the inner loop reads along rows, too.
//
// Kernels: matmul, matmul_padded
//
//   lanes  A warp has a row of TILE columns; each thread sums up TILE / ROWS elements of one column.
//   banks  Written by columns, words 32 apart: all lanes in one bank, 32-way conflicts. Read along a row of B, and one
//          word of A for the whole warp: no conflict. matmul_padded is the fix, words 33 apart.
//
// Contract
//   launch  any number of blocks of TILE x ROWS threads
//   in      per block A and B, TILE x DEPTH words each, row after row
//   out     TILE x TILE words per block: out[i][j] = sum over k of A[i][k] * B[j][k]

namespace more_matmul_detail {

constexpr unsigned TILE = 32;   // rows and columns of the product
constexpr unsigned ROWS = 8;    // rows of threads
constexpr unsigned DEPTH = 64;  // columns of A and of B

// PITCH: words from row to row in shared memory.
template <unsigned PITCH>
static __device__ __forceinline__ void multiply(const unsigned* __restrict__ in, unsigned* __restrict__ out) {
  __shared__ unsigned a[TILE][PITCH];  // a[k][row]
  __shared__ unsigned b[TILE][PITCH];  // b[k][column]

  const unsigned x = threadIdx.x, y = threadIdx.y;
  const unsigned* left = in + size_t(blockIdx.x) * (2 * TILE * DEPTH);
  const unsigned* right = left + TILE * DEPTH;
  unsigned* product = out + size_t(blockIdx.x) * (TILE * TILE);
  unsigned sums[TILE / ROWS] = {};

  for (unsigned k0 = 0; k0 < DEPTH; k0 += TILE) {
    for (unsigned row = 0; row < TILE; row += ROWS) {
      a[x][row + y] = left[(row + y) * DEPTH + k0 + x];
      b[x][row + y] = right[(row + y) * DEPTH + k0 + x];
    }
    __syncthreads();
    for (unsigned k = 0; k < TILE; ++k) {
      const unsigned factor = b[k][x];
#pragma unroll
      for (unsigned i = 0; i < TILE / ROWS; ++i) sums[i] += a[k][y + i * ROWS] * factor;
    }
    __syncthreads();
  }

#pragma unroll
  for (unsigned i = 0; i < TILE / ROWS; ++i) product[(y + i * ROWS) * TILE + x] = sums[i];
}

}  // namespace more_matmul_detail

__global__ void __launch_bounds__(32 * 8) more_matmul(const unsigned* __restrict__ in, unsigned* __restrict__ out) {
  more_matmul_detail::multiply<more_matmul_detail::TILE>(in, out);
}

__global__ void __launch_bounds__(32 * 8)
    more_matmul_padded(const unsigned* __restrict__ in, unsigned* __restrict__ out) {
  more_matmul_detail::multiply<more_matmul_detail::TILE + 1>(in, out);
}
