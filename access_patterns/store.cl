// SPDX-License-Identifier: MIT-0
//
// Microbenchmark of local-memory stores (CUDA: shared memory): time per store of 1, 2, 4, 8 or 16 bytes per lane, with
// any bank conflicts. Every warp repeats one access pattern; the host divides the time by the number of accesses.
//
// store.cuh explains what it changes, its lanes and its banks.
//
// Kernels: store_1, store_2, store_4, store_8, store_16
//
// Contract
//   launch   1 work-group of exactly BLOCK work-items
//   offsets  LANES words per pattern: the byte offset at which each lane starts, a multiple of the value's size, below
//            STEP, all different; IDLE for an inactive lane
//   sums     BLOCK words: the sum of the bytes (store_1), half words (store_2) or words at all WINDOWS * ACCESSES
//            addresses of each work-item, read after the last access, modulo 2^32; 0 for an inactive lane
//   clocks, pattern, turns  as in load.cl

#define BLOCK 512                    // work-items: enough warps to keep local memory busy
#define LANES 32                     // offsets per pattern
#define WINDOWS 2                    // iterations until the addresses repeat
#define PART 2048                    // bytes per warp
#define TILE (BLOCK / LANES * PART)  // bytes
#define IDLE (~0u)

// Stores a value of `size` bytes that begins with `v`.
static void store(__local char *at, const uint size, uint v) {
  if (size == 1) *(__local uchar *)at = (uchar)v;
  if (size == 2) *(__local ushort *)at = (ushort)v;
  if (size == 4) *(__local uint *)at = v;
  if (size == 8) *(__local uint2 *)at = (uint2)(v, v + 1);
  if (size == 16) *(__local uint4 *)at = (uint4)(v, v + 1, v + 2, v + 3);
}

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
  const uint STEP = size == 16 ? 512 : 256;       // bytes from one access to the next
  const uint ACCESSES = PART / (WINDOWS * STEP);  // per iteration
  __local uint *words = (__local uint *)tile;
  const uint t = get_local_id(0);
  // fill the tile with known values
  for (uint w = t; w < TILE / sizeof(uint); w += BLOCK) words[w] = w * 0x9E3779B1u;

  // find where the lane starts in the tile
  const uint offset = offsets[pattern * LANES + t % LANES];
  __local char *own = (__local char *)tile + t / LANES * PART + (offset == IDLE ? 0 : offset);
  const uint value = t * 0x85EBCA6Bu;
  uint sum = 0;

  // wait until the tile is full
  barrier(CLK_LOCAL_MEM_FENCE);
  // timed region: repeat the access pattern
  if (offset != IDLE) {
#pragma unroll 1  // otherwise the compiler sees that the addresses repeat
    for (ulong turn = 0; turn < turns; ++turn) {
      __local char *at = own + turn % WINDOWS * (ACCESSES * STEP);
#pragma unroll
      for (uint i = 0; i < ACCESSES; ++i) store(at + i * STEP, size, value);
    }
  }
  // wait until all warps have finished; there is no clock to stop
  barrier(CLK_LOCAL_MEM_FENCE);
  if (t == 0) *clocks = 0;
  // add up what the tile holds at the addresses of this work-item
  for (uint i = 0; offset != IDLE && i < WINDOWS * ACCESSES; ++i) sum += load(own + i * STEP, size);
  sums[t] = sum;
}

#define STORE(kernel_name, size)                                                                                  \
  __kernel __attribute__((reqd_work_group_size(BLOCK, 1, 1)))                                                     \
  void kernel_name(__global const uint *restrict offsets, __global uint *restrict sums,                           \
                   __global ulong *restrict clocks, ulong pattern, ulong turns) {                                 \
    __local uint4 tile[TILE / sizeof(uint4)];                                                                     \
    repeat(size, tile, offsets, sums, clocks, pattern, turns);                                                    \
  }

STORE(access_store_1, 1)
STORE(access_store_2, 2)
STORE(access_store_4, 4)
STORE(access_store_8, 8)
STORE(access_store_16, 16)
