// SPDX-License-Identifier: MIT-0
//
// Matrix transpose with an L2 prefetch hint and L2 eviction priority evict_last (PTX ISA, "ld": .level::prefetch_size;
// "createpolicy" and "Cache Eviction Priority Hints"; CUDA calls such data persisting). The prefetch is for rows that
// do not start at multiples of 256 bytes: a tile's part of such a row lies in two aligned pieces of 256 bytes, and the
// adjacent tiles read the rest of both a little later. With the hint, each load brings its whole piece into the L2
// cache. Hardly any of the input is used again, but on an H200 the priority raises bandwidth by about 2 %. We think
// that the L2 cache then evicts output lines first; we have not explained why that helps. After the kernel, lines of
// `in` keep their priority until they are replaced.
//
// Changed against output_order.cuh: the loads have both hints.
//
//   lanes, banks  As in vectorized.cuh.
//
// No OpenCL port: OpenCL C has no such hints; with them as inline PTX it would repeat output_order.cl
//
// Contract
//   launch  ceil(height / TILE) * ceil(width / TILE) blocks of LANES x WARPS threads, tiles in column-major order
//   in      height x width words, row-major; 16-byte aligned
//   out     width x height words, row-major: out[x][y] = in[y][x]; 16-byte aligned; must not overlap `in`
//   height, width  any; launch no block if either is 0
//   device  any; below compute capability 8.0 this is output_order.cuh

namespace transpose_persisting_detail {

// Loads that prefetch the 256 bytes around them into the L2 cache with priority evict_last. CUDA C++ has no intrinsic
// for them, hence inline PTX.
#if defined(__CUDACC__) && __CUDA_ARCH__ >= 800
static __device__ unsigned long long keep() {
  unsigned long long policy;
  asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}

static __device__ unsigned load_word(const unsigned* from) {
  unsigned word;
  asm("ld.global.L2::cache_hint.L2::256B.u32 %0, [%1], %2;"
      : "=r"(word)
      : "l"(__cvta_generic_to_global(from)), "l"(keep()));
  return word;
}

static __device__ uint4 load_chunk(const unsigned* from) {
  uint4 word;
  asm("ld.global.L2::cache_hint.L2::256B.v4.u32 {%0, %1, %2, %3}, [%4], %5;"
      : "=r"(word.x), "=r"(word.y), "=r"(word.z), "=r"(word.w)
      : "l"(__cvta_generic_to_global(from)), "l"(keep()));
  return word;
}
#else
static __device__ unsigned load_word(const unsigned* from) { return *from; }

static __device__ uint4 load_chunk(const unsigned* from) { return *reinterpret_cast<const uint4*>(from); }
#endif

}  // namespace transpose_persisting_detail

__global__ void __launch_bounds__(32 * 16)
    transpose_persisting(const unsigned* __restrict__ in, unsigned* __restrict__ out, size_t height, size_t width) {
  using namespace transpose_persisting_detail;
  constexpr unsigned TILE = 64;               // words along each side of a tile
  constexpr unsigned LANES = 32;              // threads along x: a warp, and the columns of a patch
  constexpr unsigned WARPS = 16;              // per block; each loads four rows,
  constexpr unsigned PATCHES = TILE / LANES;  // in this many adjacent patches
  constexpr unsigned CHUNKS = TILE / 4;       // of four words, per column of the tile
  static_assert(4 * WARPS == TILE);

  // The index of word y of column x in the tile. The four words of a chunk, y .. y + 3, are contiguous.
  const auto place = [](unsigned x, unsigned y) { return x * TILE + (y / 4 ^ (x ^ x / 4) % 8) * 4 + y % 4; };

  __shared__ __align__(16) unsigned tile[TILE * TILE];

  const unsigned lane = threadIdx.x, first = 4 * threadIdx.y;    // first row of the warp's patches
  const unsigned row = first + lane / 8, column = lane % 8 * 4;  // of the lane's chunk
  const unsigned tiles_down = unsigned((height + TILE - 1) / TILE);
  const size_t top = size_t(blockIdx.x % tiles_down) * TILE;
  const size_t left = size_t(blockIdx.x / tiles_down) * TILE;
  const unsigned rows = unsigned(min(height - top, size_t(TILE)));  // fewer at the edge
  const unsigned columns = unsigned(min(width - left, size_t(TILE)));

  // Addresses relative to the tile's corner need 32 registers per thread, which allows four resident blocks per SM.
  // Addresses relative to `in` needed 34 registers, which allowed three.
  const unsigned* const corner = in + top * width + left;
  // load the patches, coalesced: 16 bytes per lane, or four words where rows are not whole chunks
  uint4 word[PATCHES] = {};
#pragma unroll
  for (unsigned k = 0; k < PATCHES; ++k) {
    if (width % 4 == 0) {
      if (row < rows && k * LANES + column < columns) {
        word[k] = load_chunk(corner + row * width + k * LANES + column);
      }
    } else if (k * LANES + lane < columns) {
      const unsigned* from = corner + first * width + k * LANES + lane;
      if (first < rows) word[k].x = load_word(from);
      if (first + 1 < rows) word[k].y = load_word(from + width);
      if (first + 2 < rows) word[k].z = load_word(from + 2 * width);
      if (first + 3 < rows) word[k].w = load_word(from + 3 * width);
    }
  }

  // --- shared-memory section ---
  // store the patches to the tile, transposed: a column of the patch is a row of shared memory
#pragma unroll
  for (unsigned k = 0; k < PATCHES; ++k) {
    if (width % 4 == 0) {
      const unsigned x = k * LANES + column;
      tile[place(x, row)] = word[k].x;
      tile[place(x + 1, row)] = word[k].y;
      tile[place(x + 2, row)] = word[k].z;
      tile[place(x + 3, row)] = word[k].w;
    } else {
      *reinterpret_cast<uint4*>(&tile[place(k * LANES + lane, first)]) = word[k];
    }
  }
  __syncthreads();
  // load rows of `out` from the tile: two per iteration, contiguous
#pragma unroll
  for (unsigned k = 0; k < PATCHES; ++k) {
    const unsigned x = first + 2 * k;
    if (height % 4 == 0) {
      word[k] = *reinterpret_cast<const uint4*>(&tile[place(x + lane / CHUNKS, lane % CHUNKS * 4)]);
    } else {
      word[k].x = tile[place(x, lane)];
      word[k].y = tile[place(x, lane + LANES)];
      word[k].z = tile[place(x + 1, lane)];
      word[k].w = tile[place(x + 1, lane + LANES)];
    }
  }
  // --- end of section ---

  // store the tile transposed, coalesced, by cache-streaming stores; nvcc 13.0 would split plain ones into words
#pragma unroll
  for (unsigned k = 0; k < PATCHES; ++k) {
    const unsigned x = first + 2 * k, below = lane % CHUNKS * 4;
    if (height % 4 == 0) {
      if (x + lane / CHUNKS < columns && below < rows) {
        __stcs(reinterpret_cast<uint4*>(out + (left + x + lane / CHUNKS) * height + top + below), word[k]);
      }
    } else {
      unsigned* to = out + (left + x) * height + top + lane;
      if (x < columns && lane < rows) __stcs(to, word[k].x);
      if (x < columns && lane + LANES < rows) __stcs(to + LANES, word[k].y);
      if (x + 1 < columns && lane < rows) __stcs(to + height, word[k].z);
      if (x + 1 < columns && lane + LANES < rows) __stcs(to + height + LANES, word[k].w);
    }
  }
}
