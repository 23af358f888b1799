// SPDX-License-Identifier: MIT-0
//
// Convolves a picture with a 5 x 5 window, from a tile with its halo in shared memory.
//
//   lanes  A warp has two rows of 16 pixels, and each thread one pixel in each quarter of the tile.
//   banks  Rows are 36 words apart, so the second half of a warp begins four banks behind the first: 12 banks have two
//          words to deliver, 2-way conflicts.
//
// Contract
//   launch  any number of blocks of SIDE x SIDE threads
//   in      WIDTH x WIDTH words per block, row after row: the pixel is the lowest byte; the first TILE + WINDOW - 1
//           rows and columns are read
//   out     TILE x TILE words per block, signed: the window's sum to the right of and below each pixel

__global__ void __launch_bounds__(16 * 16) more_convolution(const unsigned* __restrict__ in, int* __restrict__ out) {
  constexpr unsigned SIDE = 16;                  // threads along each side of a block
  constexpr unsigned TILE = 32;                  // results along each side
  constexpr unsigned WINDOW = 5;                 // weights along each side
  constexpr unsigned PITCH = TILE + WINDOW - 1;  // pixels along each side of the tile with its halo
  constexpr unsigned WIDTH = 64;                 // pixels along each side of a block's picture

  constexpr int weights[WINDOW][WINDOW] = {
      {1, -2, 3, -2, 1}, {-4, 7, 9, 7, -4}, {5, 11, 40, 11, 5}, {-4, 7, 9, 7, -4}, {1, -3, 2, -3, 1}};
  __shared__ int tile[PITCH][PITCH];

  const unsigned x = threadIdx.x, y = threadIdx.y;
  const unsigned* picture = in + size_t(blockIdx.x) * (WIDTH * WIDTH);
  int* result = out + size_t(blockIdx.x) * (TILE * TILE);

  for (unsigned i = y * SIDE + x; i < PITCH * PITCH; i += SIDE * SIDE) {
    const unsigned row = i / PITCH, column = i % PITCH;
    tile[row][column] = int(picture[row * WIDTH + column] % 256);
  }
  __syncthreads();

  for (unsigned top = 0; top < TILE; top += SIDE) {
    for (unsigned left = 0; left < TILE; left += SIDE) {
      int sum = 0;
#pragma unroll
      for (unsigned row = 0; row < WINDOW; ++row) {
#pragma unroll
        for (unsigned column = 0; column < WINDOW; ++column) {
          sum += weights[row][column] * tile[top + y + row][left + x + column];
        }
      }
      result[(top + y) * TILE + left + x] = sum;
    }
  }
}
