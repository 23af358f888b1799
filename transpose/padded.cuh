// SPDX-License-Identifier: MIT-0
//
// Matrix transpose through a padded 16 x 17 tile (the padding by one column of Ruetsch & Micikevicius 2009, "Optimizing
// Matrix Transpose in CUDA"). It has no conflict on 16 banks; on 32 banks, 2-way conflicts remain.
//
// Changed against naive.cuh: rows of 17 words, so the stride of a column is odd.
//
//   lanes  As in naive.cuh.
//   banks  Loads by columns read words 17x + y. On 16 banks, which serve 16 lanes per pass, there is no conflict. On 32
//          banks, the two rows of a warp overlap in one bank, in the store (words 0 and 32) and in the load: 2-way
//          conflicts in both. tile32_padded.cuh pads a tile that is as wide as 32 banks.
//
// Contract
//   launch  ceil(height / TILE) * ceil(width / TILE) blocks of TILE x TILE threads, tiles in row-major order
//   in      height x width words, row-major
//   out     width x height words, row-major: out[x][y] = in[y][x]; must not overlap `in`
//   height, width  any; launch no block if either is 0

__global__ void __launch_bounds__(16 * 16)
    transpose_padded(const unsigned* __restrict__ in, unsigned* __restrict__ out, size_t height, size_t width) {
  constexpr unsigned TILE = 16;  // words along each side of a tile
  __shared__ unsigned tile[TILE][TILE + 1];

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
