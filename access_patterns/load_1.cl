// SPDX-License-Identifier: MIT-0
//
// Microbenchmark of one shared-memory access pattern (OpenCL: local memory): cycles per 1-byte load of a warp.
// Every warp repeats the access; the host divides the elapsed cycles (OpenCL: time) by the number of accesses.
//
//   lanes  Lane l loads 1 byte at offsets[l] + i * STEP for i = 0, 1, ..., WINDOWS * ACCESSES - 1, then starts over.
//          All lanes advance by the same step, so the compiler cannot merge accesses and the bank pattern stays the
//          same. All warps use the same addresses.
//   banks  STEP is a multiple of (number of banks * 4 bytes) for 16, 32 and 64 banks, so only `offsets` determines the
//          bank conflicts.
//
// Contract
//   launch   1 work-group of BLOCK work-items
//   offsets  LANES words per pattern: the byte offset at which each lane starts, at most
//            TILE - WINDOWS * ACCESSES * STEP - 1; IDLE for an inactive lane
//   sums     BLOCK words: the sum of all bytes that each work-item loaded, modulo 2^32; 0 for an inactive lane
//   clocks   one 64-bit word: 0, because OpenCL C has no clock
//   pattern  index of the pattern in `offsets`
//   turns    number of iterations, which may be 0; each warp makes ACCESSES accesses per iteration

#define BLOCK 512     // work-items: enough warps to keep local memory busy
#define LANES 32      // offsets per pattern
#define ACCESSES 16   // per iteration
#define STEP 256      // bytes from one access to the next
#define WINDOWS 2     // iterations until the addresses repeat
#define TILE 18432    // bytes
#define IDLE (~0u)

__kernel __attribute__((reqd_work_group_size(BLOCK, 1, 1)))
void access_load_1(__global const uint *restrict offsets, __global uint *restrict sums, __global ulong *restrict clocks,
                   ulong pattern, ulong turns) {
  __local uint4 tile[TILE / sizeof(uint4)];
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
      for (uint i = 0; i < ACCESSES; ++i) {
        sum += *(__local const uchar *)(at + i * STEP);
      }
    }
  }
  // wait until all warps have finished; there is no clock to stop
  barrier(CLK_LOCAL_MEM_FENCE);
  if (t == 0) *clocks = 0;
  // write the sum, which the host verifies
  sums[t] = sum;
}
