// SPDX-License-Identifier: MIT-0
//
// 16-byte loads of a warp, over and over: what one of them takes is the time divided by their number.
//
//   lanes  Lane l loads the four words at offsets[l], and then STEP bytes further on, and so on: all lanes move
//          together, so that every access is a new one for the compiler and the same one for the banks. Warps do not
//          differ.
//   banks  STEP is a whole number of turns around the banks, on 16, 32 or 64 of them. What the banks have to do is
//          decided by the offsets alone.
//
// Contract
//   launch   1 work-group of BLOCK work-items
//   offsets  LANES words for each pattern: where each lane begins, in bytes; a multiple of 16, at most
//            TILE - WINDOWS * ACCESSES * STEP - 16, or IDLE for a lane that takes no part
//   sums     BLOCK words: all that each work-item loaded, word by word, modulo 2^32; 0 for an idle lane
//   clocks   1 word of 64 bits: set to 0, because OpenCL C has no clock
//   pattern  which of them
//   turns    how many times each warp makes ACCESSES accesses; any number

#define BLOCK 512     // work-items: warps enough to keep local memory busy
#define LANES 32      // offsets of a pattern
#define ACCESSES 16   // in a turn
#define STEP 256      // bytes from one access to the next
#define WINDOWS 2     // turns until the addresses begin again
#define TILE 18432    // bytes
#define IDLE (~0u)

__kernel __attribute__((reqd_work_group_size(BLOCK, 1, 1)))
void access_load_16(__global const uint *restrict offsets, __global uint *restrict sums, __global ulong *restrict clocks,
                   ulong pattern, ulong turns) {
  __local uint4 tile[TILE / sizeof(uint4)];
  __local uint *words = (__local uint *)tile;
  const uint t = get_local_id(0);
  for (uint w = t; w < TILE / sizeof(uint); w += BLOCK) words[w] = w * 0x9E3779B1u;

  const uint offset = offsets[pattern * LANES + t % LANES];
  __local const char *own = (__local const char *)tile + (offset == IDLE ? 0 : offset);
  uint sum = 0;

  barrier(CLK_LOCAL_MEM_FENCE);
  if (offset != IDLE) {
#pragma unroll 1  // or the compiler sees that the addresses come again
    for (ulong turn = 0; turn < turns; ++turn) {
      __local const char *at = own + turn % WINDOWS * (ACCESSES * STEP);
#pragma unroll
      for (uint i = 0; i < ACCESSES; ++i) {
        const uint4 v = *(__local const uint4 *)(at + i * STEP);
        sum += v.x + v.y + v.z + v.w;
      }
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (t == 0) *clocks = 0;
  sums[t] = sum;
}
