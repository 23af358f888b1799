// SPDX-License-Identifier: MIT-0
//
// Transposes a square of pixels of four floats, and blends each with its mirror image.
//
//   lanes  A warp has two rows of 16 pixels.
//   banks  16-byte accesses, a quarter-warp at a time. Written by rows: no conflict. Read by columns, 256 bytes from
//          row to row: the eight lanes share four banks, 8-way conflicts.
//
// Contract
//   launch  any number of blocks of SIDE x SIDE threads
//   in      SLICE records of four words per block, of which the first SIDE * SIDE are read, row after row; each word is
//           taken modulo LEVELS; 16-byte aligned
//   out     SIDE x SIDE records per block: out[x][y] = (in[y][x] + in[y][SIDE - 1 - x]) / 2; 16-byte aligned

__global__ void __launch_bounds__(16 * 16) more_float4_tile(const uint4* __restrict__ in, float4* __restrict__ out) {
  constexpr unsigned SIDE = 16;       // pixels, and threads, along each side
  constexpr unsigned SLICE = 1024;    // records of input per block
  constexpr unsigned LEVELS = 65536;  // of a pixel's component
  __shared__ float4 tile[SIDE][SIDE];

  const unsigned x = threadIdx.x, y = threadIdx.y;
  const uint4 word = in[size_t(blockIdx.x) * SLICE + y * SIDE + x];
  tile[y][x] =
      make_float4(float(word.x % LEVELS), float(word.y % LEVELS), float(word.z % LEVELS), float(word.w % LEVELS));
  __syncthreads();
  const float4 a = tile[x][y];
  const float4 b = tile[x][SIDE - 1 - y];
  out[size_t(blockIdx.x) * (SIDE * SIDE) + y * SIDE + x] =
      make_float4((a.x + b.x) / 2, (a.y + b.y) / 2, (a.z + b.z) / 2, (a.w + b.w) / 2);
}
