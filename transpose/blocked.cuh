// SPDX-License-Identifier: MIT-0
//
// Matrix transpose for CPUs, written in CUDA: one thread per 512 x 512 tile, cache blocking by 4 x 4 words. It is the
// counterpart of blocked.cl. On a GPU, compare it with vectorized.cuh; do not use it.
//
// Changed against global.cuh: one thread works through a tile, cache line by cache line.
//
//   lanes  One per block. The other 31 lanes of the warp do not exist. An access moves at most 16 bytes, so the kernel
//          transposes squares of 4 x 4 words instead of 16 x 16 as on a CPU.
//   banks  No shared memory.
//
// Contract
//   launch  ceil(height / TILE) * ceil(width / TILE) blocks of exactly one thread, tiles in row-major order
//   in      height x width words, row-major; 16-byte aligned
//   out     width x height words, row-major: out[x][y] = in[y][x]; 16-byte aligned; must not overlap `in`
//   height, width  any; launch no block if either is 0

__global__ void __launch_bounds__(1)
    transpose_blocked(const unsigned* __restrict__ in, unsigned* __restrict__ out, size_t height, size_t width) {
  constexpr unsigned TILE = 512;  // words along each side of a tile
  constexpr unsigned CHUNK = 4;   // words per access, and along each side of a cache block

  const unsigned tiles_across = unsigned((width + TILE - 1) / TILE);
  const size_t top = size_t(blockIdx.x / tiles_across) * TILE;
  const size_t left = size_t(blockIdx.x % tiles_across) * TILE;
  const size_t bottom = min(top + TILE, height), right = min(left + TILE, width);
  const bool chunks = height % CHUNK == 0 && width % CHUNK == 0;  // then no cache block extends past the edge

  for (size_t y = top; y < bottom; y += CHUNK) {
    for (size_t x = left; x < right; x += CHUNK) {
      if (chunks) {
        // load, transpose and store 4 x 4 words in registers
        uint4 row[CHUNK];
#pragma unroll
        for (unsigned r = 0; r < CHUNK; ++r) row[r] = *reinterpret_cast<const uint4*>(in + (y + r) * width + x);
        uint4* to = reinterpret_cast<uint4*>(out + x * height + y);
        to[0] = make_uint4(row[0].x, row[1].x, row[2].x, row[3].x);
        to[height / CHUNK] = make_uint4(row[0].y, row[1].y, row[2].y, row[3].y);
        to[2 * (height / CHUNK)] = make_uint4(row[0].z, row[1].z, row[2].z, row[3].z);
        to[3 * (height / CHUNK)] = make_uint4(row[0].w, row[1].w, row[2].w, row[3].w);
      } else {
        // past the edge or unaligned: word by word
        for (size_t column = x; column < min(x + CHUNK, right); ++column) {
          for (size_t r = y; r < min(y + CHUNK, bottom); ++r) out[column * height + r] = in[r * width + column];
        }
      }
    }
  }
}
