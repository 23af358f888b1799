// SPDX-License-Identifier: MIT-0
//
// Microbenchmark of local-memory loads (CUDA: shared memory): time per load of 1, 2, 4, 8 or 16 bytes per lane, with
// any bank conflicts. Every warp repeats one access pattern; the host divides the time by the number of accesses.
//
// load.cuh explains its lanes and banks.
//
// Kernels: load_1, load_2, load_4, load_8, load_16
//
// Contract
//   launch   1 work-group of exactly BLOCK work-items
//   offsets  LANES words per pattern: the byte offset at which each lane starts, a multiple of the value's size, so
//            that the value at offset + WINDOWS * ACCESSES * STEP lies in the tile; IDLE for an inactive lane
//   sums     BLOCK words: the sum of all bytes (load_1), half words (load_2) or words that each work-item loaded,
//            modulo 2^32; 0 for an inactive lane
//   clocks   one 64-bit word: 0, because OpenCL C has no clock
//   pattern  index of the pattern in `offsets`
//   turns    number of iterations, which may be 0; each warp makes ACCESSES accesses per iteration

#define BLOCK 512    // work-items: enough warps to keep local memory busy
#define LANES 32     // offsets per pattern
#define ACCESSES 16  // per iteration
#define STEP 256     // bytes from one access to the next
#define WINDOWS 2    // iterations until the addresses repeat
#define TILE 18432   // bytes
#define IDLE (~0u)

// The sum of the value of `size` bytes.
static uint load(__local const char *at, const uint size) {
  if (size == 1) return *(__local const uchar *)at;
  if (size == 2) return *(__local const ushort *)at;
  if (size == 4) return *(__local const uint *)at;
  if (size == 8) {
    const uint2 v = *(__local const uint2 *)at;
    return v.x + v.y;
  }
  const uint4 v = *(__local const uint4 *)at;
  return v.x + v.y + v.z + v.w;
}

static void repeat(const uint size, __local uint4 *tile, __global const uint *restrict offsets,
                   __global uint *restrict sums, __global ulong *restrict clocks, ulong pattern, ulong turns) {
  __local uint *words = (__local uint *)tile;
  const uint t = get_local_id(0);
  // fill the tile with known values
  for (uint w = t; w < TILE / sizeof(uint); w += BLOCK) words[w] = w * 0x9E3779B1u;

  // find where the lane starts in the tile
  const uint offset = offsets[pattern * LANES + t % LANES];
  __local const char *own = (__local const char *)tile + (offset == IDLE ? 0 : offset);
  uint sum = 0;

  // wait until the tile is full
  barrier(CLK_LOCAL_MEM_FENCE);
  // timed region: repeat the access pattern
  if (offset != IDLE) {
#pragma unroll 1  // otherwise the compiler sees that the addresses repeat
    for (ulong turn = 0; turn < turns; ++turn) {
      __local const char *at = own + turn % WINDOWS * (ACCESSES * STEP);
#pragma unroll
      for (uint i = 0; i < ACCESSES; ++i) sum += load(at + i * STEP, size);
    }
  }
  // wait until all warps have finished; there is no clock to stop
  barrier(CLK_LOCAL_MEM_FENCE);
  if (t == 0) *clocks = 0;
  // write the sum, which the host verifies
  sums[t] = sum;
}

#define LOAD(kernel_name, size)                                                                                   \
  __kernel __attribute__((reqd_work_group_size(BLOCK, 1, 1)))                                                     \
  void kernel_name(__global const uint *restrict offsets, __global uint *restrict sums,                           \
                   __global ulong *restrict clocks, ulong pattern, ulong turns) {                                 \
    __local uint4 tile[TILE / sizeof(uint4)];                                                                     \
    repeat(size, tile, offsets, sums, clocks, pattern, turns);                                                    \
  }

LOAD(access_load_1, 1)
LOAD(access_load_2, 2)
LOAD(access_load_4, 4)
LOAD(access_load_8, 8)
LOAD(access_load_16, 16)
