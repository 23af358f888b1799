// SPDX-License-Identifier: MIT-0
//
// Matrix transpose through a 16 x 16 tile in shared memory: 8-way bank conflicts (the coalesced transpose of Ruetsch &
// Micikevicius 2009, "Optimizing Matrix Transpose in CUDA"). Changed against global.cuh: coalesced stores.
//
//   lanes  All active, except in tiles that extend past the edge.
//   banks  A warp of 32 covers two rows of the tile. Stores by rows write 32 consecutive words: no conflict. Loads by
//          columns read words 16x + y: the 16 lanes of a column share two banks, so 8-way conflicts (16-way on 16
//          banks).
//
// Contract
//   launch  ceil(height / TILE) * ceil(width / TILE) blocks of TILE x TILE threads, tiles in row-major order
//   in      height x width words, row-major
//   out     width x height words, row-major: out[x][y] = in[y][x]; must not overlap `in`
//   height, width  any; launch no block if either is 0

__global__ void __launch_bounds__(16 * 16)
    transpose_naive(const unsigned* __restrict__ in, unsigned* __restrict__ out, size_t height, size_t width) {
  constexpr unsigned TILE = 16;  // words along each side of a tile
  __shared__ unsigned tile[TILE][TILE];

  const unsigned x = threadIdx.x, y = threadIdx.y;
  const unsigned tiles_across = unsigned((width + TILE - 1) / TILE);
  const size_t top = size_t(blockIdx.x / tiles_across) * TILE;
  const size_t left = size_t(blockIdx.x % tiles_across) * TILE;

  // load the tile, coalesced
  unsigned word = 0;
  if (top + y < height && left + x < width) word = in[(top + y) * width + left + x];

  // --- shared-memory section ---
  // store rows to the tile
  tile[y][x] = word;
  __syncthreads();
  // load columns of the tile
  word = tile[x][y];
  // --- end of section ---

  // store the tile transposed, coalesced
  if (left + y < width && top + x < height) out[(left + y) * height + top + x] = word;
}
