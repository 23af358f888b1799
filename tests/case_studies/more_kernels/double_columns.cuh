// SPDX-License-Identifier: MIT-0
//
// Transposes a matrix of doubles and subtracts each row's first element: readings in, columns of differences out.
//
//   lanes  In, a warp has a row of 32. Out, it has two columns of 16.
//   banks  8-byte accesses. Written by rows: no conflict. Read by columns, 256 bytes from row to row: the 16 lanes of a
//          half-warp share two banks, 16-way conflicts.
//
// Contract
//   launch  any number of blocks of COLUMNS x THREAD_ROWS threads
//   in      SLICE words per block, of which the first ROWS * COLUMNS are read, row after row
//   out     COLUMNS x ROWS doubles per block: out[c][r] = in[r][c] - in[r][0]

__global__ void __launch_bounds__(32 * 8)
    more_double_columns(const unsigned* __restrict__ in, double* __restrict__ out) {
  constexpr unsigned ROWS = 16;
  constexpr unsigned COLUMNS = 32;
  constexpr unsigned THREAD_ROWS = 8;  // rows of threads
  constexpr unsigned SLICE = 4096;     // words of input per block
  __shared__ double tile[ROWS][COLUMNS];

  const unsigned x = threadIdx.x, y = threadIdx.y;
  const unsigned* from = in + size_t(blockIdx.x) * SLICE;
  double* to = out + size_t(blockIdx.x) * (ROWS * COLUMNS);

  for (unsigned row = 0; row < ROWS; row += THREAD_ROWS) {
    tile[row + y][x] = double(from[(row + y) * COLUMNS + x]);
  }
  __syncthreads();
  const unsigned row = x % ROWS;
  const double base = tile[row][0];
  for (unsigned first = 0; first < COLUMNS; first += COLUMNS / 2) {
    const unsigned column = first + 2 * y + x / ROWS;
    to[column * ROWS + row] = tile[row][column] - base;
  }
}
