// SPDX-License-Identifier: MIT-0
//
// Microbenchmark of local-memory atomics (CUDA: shared memory): time per 32-bit atomic addition (atomic_add), increment
// or compare-and-swap (atomic_cmpxchg) of a warp, with any bank conflicts. Every warp repeats one access pattern; the
// host divides the time by the number of accesses.
//
// atomic.cuh explains what it changes, its lanes and its banks.
//
// Kernels: atomic_add, atomic_inc, atomic_cas
//
// Contract
//   launch   1 work-group of exactly BLOCK work-items
//   offsets  LANES words per pattern: the byte offset at which each lane starts, a multiple of 4, at most
//            TILE - WINDOWS * ACCESSES * STEP - 4; IDLE for an inactive lane
//   sums     BLOCK words: the sum of the words at all WINDOWS * ACCESSES addresses of each work-item, read after the
//            last access, modulo 2^32; 0 for an inactive lane
//   clocks, pattern, turns  as in load.cl

#define BLOCK 512           // work-items: enough warps to keep local memory busy
#define LANES 32            // offsets per pattern
#define ACCESSES 16         // per iteration
#define STEP 256            // bytes from one access to the next
#define WINDOWS 2           // iterations until the addresses repeat
#define TILE 18432          // bytes
#define IDLE (~0u)
#define FILLED 0x9E3779B1u  // times the index of a word: its initial value

enum { ADD, INCREMENT, SWAP };

// `filled` is the initial value of the word, `number` the work-item number plus 1.
static void update(const uint operation, __local uint *word, uint filled, uint number) {
  if (operation == ADD) atomic_add(word, number);
  if (operation == INCREMENT) atomic_add(word, 1);
  if (operation == SWAP) atomic_cmpxchg(word, filled, ~filled);
}

static void repeat(const uint operation, __local uint4 *tile, __global const uint *restrict offsets,
                   __global uint *restrict sums, __global ulong *restrict clocks, ulong pattern, ulong turns) {
  __local uint *words = (__local uint *)tile;
  const uint t = get_local_id(0);
  // fill the tile with known values
  for (uint w = t; w < TILE / sizeof(uint); w += BLOCK) words[w] = w * FILLED;

  // find where the lane starts in the tile
  const uint offset = offsets[pattern * LANES + t % LANES];
  __local char *own = (__local char *)tile + (offset == IDLE ? 0 : offset);
  const uint number = t + 1;
  uint sum = 0;

  // wait until the tile is full
  barrier(CLK_LOCAL_MEM_FENCE);
  // timed region: repeat the access pattern
  if (offset != IDLE) {
#pragma unroll 1  // otherwise the compiler sees that the addresses repeat
    for (ulong turn = 0; turn < turns; ++turn) {
      __local char *at = own + turn % WINDOWS * (ACCESSES * STEP);
      const uint filled = (uint)(at - (__local char *)tile) / sizeof(uint) * FILLED;
#pragma unroll
      for (uint i = 0; i < ACCESSES; ++i) {
        update(operation, (__local uint *)(at + i * STEP), filled + i * (STEP / sizeof(uint)) * FILLED, number);
      }
    }
  }
  // wait until all warps have finished; there is no clock to stop
  barrier(CLK_LOCAL_MEM_FENCE);
  if (t == 0) *clocks = 0;
  // add up what the tile holds at the addresses of this work-item
  for (uint i = 0; offset != IDLE && i < WINDOWS * ACCESSES; ++i) sum += *(__local const uint *)(own + i * STEP);
  sums[t] = sum;
}

#define ATOMIC(kernel_name, operation)                                                                            \
  __kernel __attribute__((reqd_work_group_size(BLOCK, 1, 1)))                                                     \
  void kernel_name(__global const uint *restrict offsets, __global uint *restrict sums,                           \
                   __global ulong *restrict clocks, ulong pattern, ulong turns) {                                 \
    __local uint4 tile[TILE / sizeof(uint4)];                                                                     \
    repeat(operation, tile, offsets, sums, clocks, pattern, turns);                                               \
  }

ATOMIC(access_atomic_add, ADD)
ATOMIC(access_atomic_inc, INCREMENT)
ATOMIC(access_atomic_cas, SWAP)
