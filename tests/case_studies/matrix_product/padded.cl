// SPDX-License-Identifier: MIT-0
//
// Matrix product through a padded tile: naive.cl with rows of 33 words in the transposed tile of a.
//
//   lanes  As in naive.cl.
//   banks  Stores of a by columns write words 33 apart: no conflict. All others as in naive.cl.
//
// Contract
//   launch  ceil(m / TILE) * ceil(n / TILE) work-groups of TILE x ROWS work-items, tiles in row-major order
//   a, b    m x k and k x n floats, row-major
//   out     m x n floats, row-major: the sum over i of a[row][i] * b[i][column]; must not overlap a or b
//   m, n, k  any; launch no work-group if m or n is 0
// Needs: compute capability 7.0 on NVIDIA devices; it runs on older ones, too, but a test reads this line

#define TILE 32u  // words along each side of a tile
#define ROWS 8u   // rows of work-items

__kernel __attribute__((reqd_work_group_size(TILE, ROWS, 1)))
void product_padded(__global const float* restrict a, __global const float* restrict b, __global float* restrict out,
                   ulong m, ulong n, ulong k) {
  __local float a_tile[TILE][TILE + 1];  // by columns
  __local float b_tile[TILE][TILE];

  const uint x = get_local_id(0), y = get_local_id(1);
  const uint tiles_across = (uint)((n + TILE - 1) / TILE);
  const size_t top = (size_t)((uint)get_group_id(0) / tiles_across) * TILE;
  const size_t left = (size_t)((uint)get_group_id(0) % tiles_across) * TILE;
  float sums[TILE / ROWS] = {0};

  for (size_t first = 0; first < k; first += TILE) {
    // load both tiles, coalesced; zeros past the edges
    for (uint j = 0; j < TILE; j += ROWS) {
      const uint row = y + j;
      a_tile[x][row] = top + row < m && first + x < k ? a[(top + row) * k + first + x] : 0;
      b_tile[row][x] = first + row < k && left + x < n ? b[(first + row) * n + left + x] : 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    // add the products of a column of a and a row of b
    for (uint i = 0; i < TILE; ++i) {
      const float factor = b_tile[i][x];
      for (uint j = 0; j < TILE / ROWS; ++j) sums[j] += a_tile[i][y + j * ROWS] * factor;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }

  // store the tile of the product, coalesced
  for (uint j = 0; j < TILE / ROWS; ++j) {
    const size_t row = top + y + j * ROWS;
    if (row < m && left + x < n) out[row * n + left + x] = sums[j];
  }
}
