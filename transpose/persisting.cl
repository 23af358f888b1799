// SPDX-License-Identifier: MIT-0
//
// Matrix transpose with an L2 prefetch hint and L2 eviction priority evict_last (PTX ISA, "ld": .level::prefetch_size,
// "createpolicy" and "Cache Eviction Priority Hints"; CUDA calls such data persisting). persisting.cuh explains why,
// what it changes, its lanes and its banks.
//
// Contract
//   launch  ceil(height / TILE) * ceil(width / TILE) work-groups of LANES x WARPS work-items, tiles in column-major
//           order
//   in      height x width words, row-major; 16-byte aligned
//   out     width x height words, row-major: out[x][y] = in[y][x]; 16-byte aligned; must not overlap `in`
//   height, width  any; launch no work-group if either is 0
// Needs: compute capability 8.0 on NVIDIA devices; other devices run the code of output_order.cl

#define TILE 64u                // words along each side of a tile
#define LANES 32u               // work-items along x: a warp, and the columns of a patch
#define WARPS (TILE / 4)        // per work-group; each loads four rows,
#define PATCHES (TILE / LANES)  // in this many adjacent patches
#define CHUNKS (TILE / 4)       // of four words, per column of the tile

// The index of word y of column x in the tile. The four words of a chunk, y .. y + 3, are contiguous.
uint place(uint x, uint y) { return x * TILE + (y / 4 ^ (x ^ x / 4) % 8) * 4 + y % 4; }

// Loads that prefetch the 256 bytes around them into the L2 cache with priority evict_last, and cache-streaming stores.
// OpenCL C has no built-ins for them, hence inline PTX; on other devices they are plain loads and stores.
#ifdef __NV_CL_C_VERSION
ulong keep() {
  ulong policy;
  asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}

uint load_word(__global const uint* from) {
  uint word;
  asm("ld.global.L2::cache_hint.L2::256B.u32 %0, [%1], %2;" : "=r"(word) : "l"(from), "l"(keep()));
  return word;
}

uint4 load_chunk(__global const uint* from) {
  uint4 word;
  asm("ld.global.L2::cache_hint.L2::256B.v4.u32 {%0, %1, %2, %3}, [%4], %5;"
      : "=r"(word.x), "=r"(word.y), "=r"(word.z), "=r"(word.w)
      : "l"(from), "l"(keep()));
  return word;
}
#else
uint load_word(__global const uint* from) { return *from; }

uint4 load_chunk(__global const uint* from) { return *(__global const uint4*)from; }
#endif

void store_chunk(__global uint4* to, uint4 word) {
#ifdef __NV_CL_C_VERSION
  asm volatile("st.global.cs.v4.u32 [%0], {%1, %2, %3, %4};"
               :
               : "l"(to), "r"(word.x), "r"(word.y), "r"(word.z), "r"(word.w)
               : "memory");
#else
  *to = word;
#endif
}

void store_word(__global uint* to, uint word) {
#ifdef __NV_CL_C_VERSION
  asm volatile("st.global.cs.u32 [%0], %1;" : : "l"(to), "r"(word) : "memory");
#else
  *to = word;
#endif
}

__kernel __attribute__((reqd_work_group_size(LANES, WARPS, 1)))
void transpose_persisting(__global const uint* restrict in, __global uint* restrict out, ulong height, ulong width) {
  __local uint4 chunks[TILE * TILE / 4];
  __local uint* const tile = (__local uint*)chunks;

  const uint lane = get_local_id(0), first = 4 * (uint)get_local_id(1);  // first row of the warp's patches
  const uint row = first + lane / 8, column = lane % 8 * 4;              // of the lane's chunk
  const uint tiles_down = (uint)((height + TILE - 1) / TILE);
  const size_t top = (size_t)((uint)get_group_id(0) % tiles_down) * TILE;
  const size_t left = (size_t)((uint)get_group_id(0) / tiles_down) * TILE;
  const uint rows = (uint)min(height - top, (ulong)TILE);  // fewer at the edge
  const uint columns = (uint)min(width - left, (ulong)TILE);

  // addresses below are relative to the corner of the tile
  __global const uint* const corner = in + top * width + left;
  // load the patches, coalesced: 16 bytes per lane, or four words where rows are not whole chunks
  uint4 word[PATCHES] = {(uint4)(0)};
#pragma unroll
  for (uint k = 0; k < PATCHES; ++k) {
    if (width % 4 == 0) {
      if (row < rows && k * LANES + column < columns) {
        word[k] = load_chunk(corner + row * width + k * LANES + column);
      }
    } else if (k * LANES + lane < columns) {
      __global const uint* from = corner + first * width + k * LANES + lane;
      if (first < rows) word[k].x = load_word(from);
      if (first + 1 < rows) word[k].y = load_word(from + width);
      if (first + 2 < rows) word[k].z = load_word(from + 2 * width);
      if (first + 3 < rows) word[k].w = load_word(from + 3 * width);
    }
  }

  // --- shared-memory section ---
  // store the patches to the tile, transposed: a column of the patch is a row of local memory
#pragma unroll
  for (uint k = 0; k < PATCHES; ++k) {
    if (width % 4 == 0) {
      const uint x = k * LANES + column;
      tile[place(x, row)] = word[k].x;
      tile[place(x + 1, row)] = word[k].y;
      tile[place(x + 2, row)] = word[k].z;
      tile[place(x + 3, row)] = word[k].w;
    } else {
      *(__local uint4*)&tile[place(k * LANES + lane, first)] = word[k];
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  // load rows of `out` from the tile: two per iteration, contiguous
#pragma unroll
  for (uint k = 0; k < PATCHES; ++k) {
    const uint x = first + 2 * k;
    if (height % 4 == 0) {
      word[k] = *(__local const uint4*)&tile[place(x + lane / CHUNKS, lane % CHUNKS * 4)];
    } else {
      word[k].x = tile[place(x, lane)];
      word[k].y = tile[place(x, lane + LANES)];
      word[k].z = tile[place(x + 1, lane)];
      word[k].w = tile[place(x + 1, lane + LANES)];
    }
  }
  // --- end of section ---

  // store the tile transposed, coalesced, by cache-streaming stores
#pragma unroll
  for (uint k = 0; k < PATCHES; ++k) {
    const uint x = first + 2 * k, below = lane % CHUNKS * 4;
    if (height % 4 == 0) {
      if (x + lane / CHUNKS < columns && below < rows) {
        store_chunk((__global uint4*)(out + (left + x + lane / CHUNKS) * height + top + below), word[k]);
      }
    } else {
      __global uint* to = out + (left + x) * height + top + lane;
      if (x < columns && lane < rows) store_word(to, word[k].x);
      if (x < columns && lane + LANES < rows) store_word(to + LANES, word[k].y);
      if (x + 1 < columns && lane < rows) store_word(to + height, word[k].z);
      if (x + 1 < columns && lane + LANES < rows) store_word(to + height + LANES, word[k].w);
    }
  }
}
