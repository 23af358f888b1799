// SPDX-License-Identifier: MIT-0
//
// Single-pass scan with decoupled look-back (Merrill & Garland 2016) and decoupled fallback (Smith, Levien & Owens
// 2025): the exclusive prefix sum of n words, modulo 2^32, in one launch. Each word is read once and written once.
//
// look_back.cuh explains what it changes, its lanes and its banks. Shuffles and the look-back by a warp need NVIDIA's
// PTX. On other devices the lanes exchange words through local memory, and the first lane looks back alone, one tile
// per step. OpenCL guarantees no more forward progress than CUDA, and its atomics need no fence here either.
//
// Contract
//   launch  max(1, ceil(n / TILE)) groups of exactly BLOCK work-items, one-dimensional
//   in      n words, 16-byte aligned; not read when n is 0
//   out     n words, 16-byte aligned: out[i] = sum of in[0 .. i), modulo 2^32. Must not overlap `in`, which other
//           groups may have to read again
//   state   8 * (TICKETS + groups) bytes, 8-byte aligned. Zero it before the first launch and leave it unchanged
//           between launches. It then serves any n that it is large enough for, in launches that run one after another.
//           Zero it again after an aborted launch, and before launch 2^30, when the launch numbers wrap around (they
//           are in the upper half of the first word)
//   n       any, including 0; at most (2^31 - 1) * TILE
//   device  with 64-bit atomics (cl_khr_int64_base_atomics). NVIDIA GPUs: compute capability 7.0 or newer

#ifndef cl_khr_int64_base_atomics
#error "this device has no atomic operations of 64 bits"
#endif
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable

#define BLOCK 128u  // work-items per group; a multiple of 32, at most 1024
#define WARP 32u  // lanes of a warp
#define WARPS (BLOCK / WARP)
#define ROWS 16u                   // 16-byte loads per lane
#define ROW (4 * WARP)             // words per warp and row
#define TILE (WARPS * ROWS * ROW)  // words per group
#define TICKETS 32u                // words of `state` reserved for the ticket counter
#define MAX_POLLS 1024u            // polls of a tile's word before this group computes its sum

// A tile's word holds a sum in its lower half, and 4 * launch + one of these in its upper half.
#define TILE_ALONE 1u  // the sum is that of the tile: its aggregate
#define UP_TO_END 2u   // the sum is that of all words up to the tile's end: its inclusive prefix

ulong status(uint launch, uint what, uint sum) { return (ulong)(launch << 2 | what) << 32 | sum; }

// Loads words i to i + 3, zero past the end. One 16-byte load if all four exist; i is a multiple of 4.
uint4 load(__global const uint* in, ulong i, ulong n) {
  if (i + 3 < n) return *(__global const uint4*)(in + i);
  uint4 words = (uint4)(0);
  if (i < n) words.x = in[i];
  if (i + 1 < n) words.y = in[i + 1];
  if (i + 2 < n) words.z = in[i + 2];
  return words;
}

// Stores the exclusive prefix sums of four words, given `before`, the sum of all words before the first.
void store(__global uint* out, ulong i, ulong n, uint before, uint4 words) {
  const uint4 sums = (uint4)(before, before + words.x, before + words.x + words.y, before + words.x + words.y + words.z);
  if (i + 3 < n) {
    *(__global uint4*)(out + i) = sums;
  } else {
    if (i < n) out[i] = sums.x;
    if (i + 1 < n) out[i + 1] = sums.y;
    if (i + 2 < n) out[i + 2] = sums.z;
  }
}

#ifdef __NV_CL_C_VERSION
#define EXCHANGE_SLOTS 1
#define LOOK_BACK_LANES WARP  // lanes that poll tiles in the look-back

// Shuffle: returns the word of another lane of the warp. All lanes of the warp must call.
uint shuffle_idx(uint lane, uint word, __local uint* exchange) {
  uint theirs;
  __asm__ volatile("shfl.sync.idx.b32 %0, %1, %2, 0x1f, 0xffffffff;" : "=r"(theirs) : "r"(word), "r"(lane));
  return theirs;
}

// Ballot: returns one bit per lane of the warp. All lanes of the warp must call.
uint ballot(bool yes) {
  uint lanes;
  __asm__ volatile("{ .reg .pred p; setp.ne.u32 p, %1, 0; vote.sync.ballot.b32 %0, p, 0xffffffff; }"
                   : "=r"(lanes) : "r"((uint)yes));
  return lanes;
}
#else
#define EXCHANGE_SLOTS BLOCK  // one per lane
#define LOOK_BACK_LANES 1u

// Shuffle: returns the word of another lane of the warp. All lanes of the group must call.
uint shuffle_idx(uint lane, uint word, __local uint* exchange) {
  exchange[get_local_id(0)] = word;
  barrier(CLK_LOCAL_MEM_FENCE);
  const uint theirs = exchange[get_local_id(0) / WARP * WARP + lane % WARP];
  barrier(CLK_LOCAL_MEM_FENCE);  // the slots are free again
  return theirs;
}
#endif

// The sum over the lanes of the warp, returned to every lane. The same lanes must call as for shuffle_idx().
uint warp_sum(uint word, __local uint* exchange) {
  const uint lane = get_local_id(0) % WARP;
  for (uint bit = WARP / 2; bit > 0; bit /= 2) word += shuffle_idx(lane ^ bit, word, exchange);
  return word;
}

// One lane's share of the sum of a tile other than the last, from the input. All lanes that look back must call.
uint share_of_tile(__global const uint* in, uint tile) {
  __global const uint4* words = (__global const uint4*)(in + (size_t)tile * TILE);
  uint sum = 0;
  for (uint i = get_local_id(0); i < TILE / 4; i += LOOK_BACK_LANES) {
    sum += words[i].x + words[i].y + words[i].z + words[i].w;
  }
  return sum;
}

#ifdef __NV_CL_C_VERSION
// Reads what a tile has published. atom_add(word, 0) is also correct; this load does not write.
ulong published(volatile __global ulong* word) {
  ulong value;
  __asm__ volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(value) : "l"(word) : "memory");
  return value;
}

// Decoupled look-back: the sum of all tiles before `tile`. All lanes of the warp must call. Lane k first polls tile
// number `tile` - k - 1, then every 32nd tile before that one.
uint sum_before(__global const uint* in, volatile __global ulong* statuses, uint tile, uint launch) {
  const uint lane = get_local_id(0) % WARP;
  uint sum = 0;
  for (uint back = 1 + lane;; back += WARP) {
    // poll one tile per lane; the prefix before tile 0 is zero and final
    volatile __global ulong* const word = &statuses[tile - (back <= tile ? back : 0)];
    ulong seen = back <= tile ? published(word) : status(launch, UP_TO_END, 0);
    for (uint polls = 1;; ++polls) {
      const uint what = (uint)(seen >> 32) - (launch << 2);
      const uint final = ballot(what == UP_TO_END);
      const uint open = ballot(what != UP_TO_END && what != TILE_ALONE);
      const uint wanted = final != 0 ? final ^ (final - 1) : 0xFFFFFFFF;  // lanes up to the nearest inclusive prefix
      // all of these have published: add them up
      if ((open & wanted) == 0) {
        sum += warp_sum(wanted >> lane & 1 ? (uint)seen : 0, 0);
        if (final != 0) return sum;
        break;
      }
      // otherwise poll again, or fall back
      if (polls < MAX_POLLS) {
        if ((open & wanted) >> lane & 1) seen = published(word);
      } else {
        const uint helped = 31 - clz((open & wanted) & -(open & wanted));  // lane of the nearest tile without a sum
        const uint distance = shuffle_idx(helped, back, 0);
        const ulong aggregate = status(launch, TILE_ALONE, warp_sum(share_of_tile(in, tile - distance), 0));
        if (lane == helped) {
          // publish the sum for later tiles, unless the tile itself has published meanwhile
          atom_cmpxchg(word, seen, aggregate);
          seen = aggregate;
        }
      }
    }
  }
}
#else
// Decoupled look-back by a single lane, one tile per step: the sum of all tiles before `tile`.
uint sum_before(__global const uint* in, volatile __global ulong* statuses, uint tile, uint launch) {
  uint sum = 0;
  for (uint back = 1;; ++back) {
    volatile __global ulong* const word = &statuses[tile - back];
    ulong seen = atom_add(word, 0);
    uint what = (uint)(seen >> 32) - (launch << 2);
    for (uint polls = 1; what != UP_TO_END && what != TILE_ALONE; ++polls) {
      if (polls < MAX_POLLS) {
        seen = atom_add(word, 0);
      } else {
        // decoupled fallback: compute the sum here; publish it unless the tile itself has published meanwhile
        const ulong aggregate = status(launch, TILE_ALONE, share_of_tile(in, tile - back));
        atom_cmpxchg(word, seen, aggregate);
        seen = aggregate;
      }
      what = (uint)(seen >> 32) - (launch << 2);
    }
    sum += (uint)seen;
    if (what == UP_TO_END || back == tile) return sum;  // the prefix before tile 0 is zero
  }
}
#endif

__kernel __attribute__((reqd_work_group_size(BLOCK, 1, 1)))
void scan_look_back(__global const uint* restrict in, __global uint* restrict out, volatile __global ulong* state, ulong n) {
  __local ulong ticket;
  __local uint warp_total[WARPS];
  __local uint tiles_before;
  __local uint exchange[EXCHANGE_SLOTS];

  const uint lane = get_local_id(0) % WARP, warp = get_local_id(0) / WARP;
  volatile __global ulong* const statuses = state + TICKETS;

  // claim a tile
  if (get_local_id(0) == 0) {
    const ulong mine = atom_add(state, 1);
    ticket = mine;
    // the last ticket: increment the launch number and reset the tickets to 0
    if ((uint)mine == get_num_groups(0) - 1) atom_xchg(state, ((mine >> 32) + 1) << 32);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  const uint tile = (uint)ticket, launch = (uint)(ticket >> 32);

  // load the tile, coalesced, with all loads in flight
  const size_t first = (size_t)tile * TILE + warp * (ROWS * ROW) + 4 * lane;
  uint4 words[ROWS];
#pragma unroll
  for (uint row = 0; row < ROWS; ++row) words[row] = load(in, first + row * ROW, n);

  // add up each lane's words, then the warp's, then the tile's
  uint before[ROWS], sum_of_lane = 0;
#pragma unroll
  for (uint row = 0; row < ROWS; ++row) {
    before[row] = words[row].x + words[row].y + words[row].z + words[row].w;
    sum_of_lane += before[row];
  }
  const uint sum_of_warp = warp_sum(sum_of_lane, exchange);
  if (lane == 0) warp_total[warp] = sum_of_warp;
  barrier(CLK_LOCAL_MEM_FENCE);
  const uint other = lane < WARPS ? warp_total[lane] : 0;
  const uint total = warp_sum(other, exchange);

  // publish the aggregate
  if (get_local_id(0) == 0) atom_xchg(&statuses[tile], status(launch, tile == 0 ? UP_TO_END : TILE_ALONE, total));

  // scan the rows by shuffles, as in warp_scan.cl; other groups can already read the aggregate
  uint rows_before = warp_sum(lane < warp ? other : 0, exchange);
#pragma unroll
  for (uint row = 0; row < ROWS; ++row) {
    const uint mine = before[row];
    uint sum = mine;
    for (uint step = 1; step < WARP; step *= 2) {
      const uint theirs = shuffle_idx(lane - step, sum, exchange);
      if (lane >= step) sum += theirs;
    }
    before[row] = rows_before + sum - mine;
    rows_before += shuffle_idx(WARP - 1, sum, exchange);
  }

  // look back, then publish the inclusive prefix
  if (get_local_id(0) < LOOK_BACK_LANES) {
    const uint sum = tile == 0 ? 0 : sum_before(in, statuses, tile, launch);
    if (lane == 0) {
      if (tile > 0) atom_xchg(&statuses[tile], status(launch, UP_TO_END, sum + total));
      tiles_before = sum;
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);

  // store the results, coalesced
  const uint offset = tiles_before;
#pragma unroll
  for (uint row = 0; row < ROWS; ++row) store(out, first + row * ROW, n, offset + before[row], words[row]);
}
