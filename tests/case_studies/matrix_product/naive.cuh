// SPDX-License-Identifier: MIT-0
//
// Matrix product through 32 x 32 tiles in shared memory. The tile of a is transposed as it is stored: 32-way bank
// conflicts.
//
//   lanes  A warp loads a row of each tile, and computes a row of TILE columns. A thread sums up four elements of a
//          column. All active, except in tiles that extend past the edge.
//   banks  Stores of a by columns write words 32 apart: 32-way conflicts. Stores of b, and loads of one row of b and of
//          one word of a for the whole warp: no conflict.
//
// Contract
//   launch  ceil(m / TILE) * ceil(n / TILE) blocks of TILE x ROWS threads, tiles in row-major order
//   a, b    m x k and k x n floats, row-major
//   out     m x n floats, row-major: the sum over i of a[row][i] * b[i][column]; must not overlap a or b
//   m, n, k  any; launch no block if m or n is 0

__global__ void __launch_bounds__(32 * 8) product_naive(const float* __restrict__ a, const float* __restrict__ b,
                                                        float* __restrict__ out, size_t m, size_t n, size_t k) {
  constexpr unsigned TILE = 32;         // words along each side of a tile
  constexpr unsigned ROWS = 8;          // rows of threads
  __shared__ float a_tile[TILE][TILE];  // by columns
  __shared__ float b_tile[TILE][TILE];

  const unsigned x = threadIdx.x, y = threadIdx.y;
  const unsigned tiles_across = unsigned((n + TILE - 1) / TILE);
  const size_t top = size_t(blockIdx.x / tiles_across) * TILE;
  const size_t left = size_t(blockIdx.x % tiles_across) * TILE;
  float sums[TILE / ROWS] = {};

  for (size_t first = 0; first < k; first += TILE) {
    // load both tiles, coalesced; zeros past the edges
#pragma unroll
    for (unsigned j = 0; j < TILE; j += ROWS) {
      const unsigned row = y + j;
      a_tile[x][row] = top + row < m && first + x < k ? a[(top + row) * k + first + x] : 0;
      b_tile[row][x] = first + row < k && left + x < n ? b[(first + row) * n + left + x] : 0;
    }
    __syncthreads();
    // add the products of a column of a and a row of b
#pragma unroll 1
    for (unsigned i = 0; i < TILE; ++i) {
      const float factor = b_tile[i][x];
#pragma unroll
      for (unsigned j = 0; j < TILE / ROWS; ++j) sums[j] += a_tile[i][y + j * ROWS] * factor;
    }
    __syncthreads();
  }

  // store the tile of the product, coalesced
#pragma unroll
  for (unsigned j = 0; j < TILE / ROWS; ++j) {
    const size_t row = top + y + j * ROWS;
    if (row < m && left + x < n) out[row * n + left + x] = sums[j];
  }
}
