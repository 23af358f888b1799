// SPDX-License-Identifier: MIT-0
//
// naive.cuh with rows of 17 words: one word of padding turns the stride of a column odd.
//
//   lanes  As in naive.cuh.
//   banks  Read by columns, word 17x + y: on 16 banks, served 16 lanes at a time, no conflict, as the trick promises.
//          On 32 banks the two rows of a warp meet in one bank, at the write (words 0 and 32) and at the read:
//          2-way both times. tile32_padded.cuh is the same idea at the width of today's banks.
//
// Contract
//   launch  ceil(height / TILE) * ceil(width / TILE) blocks of TILE x TILE threads, row of tiles after row of tiles
//   in      height x width words, row after row
//   out     width x height words, row after row: out[x][y] = in[y][x]; must not overlap `in`
//   height, width  any; no blocks at all where one of them is 0

__global__ void __launch_bounds__(16 * 16)
    transpose_padded(const unsigned* __restrict__ in, unsigned* __restrict__ out, size_t height, size_t width) {
  constexpr unsigned TILE = 16;  // words along each side of a tile
  __shared__ unsigned tile[TILE][TILE + 1];

  const unsigned x = threadIdx.x, y = threadIdx.y;
  const unsigned tiles_across = unsigned((width + TILE - 1) / TILE);
  const size_t top = size_t(blockIdx.x / tiles_across) * TILE;
  const size_t left = size_t(blockIdx.x % tiles_across) * TILE;

  unsigned word = 0;
  if (top + y < height && left + x < width) word = in[(top + y) * width + left + x];

  // --- shared-memory section ---
  tile[y][x] = word;
  __syncthreads();
  word = tile[x][y];
  // --- end of section ---

  if (left + y < width && top + x < height) out[(left + y) * height + top + x] = word;
}
