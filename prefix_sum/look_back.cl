// SPDX-License-Identifier: MIT-0
//
// Exclusive prefix sum of n words, modulo 2^32, in one launch: each word is read once and written once. The groups tell
// each other what they have summed up (Merrill and Garland's decoupled look-back).
//
//   lanes  A tile is scanned as in warp_scan.cl. As soon as its sum is known, it is published: a word of the tile's own
//          in `state`. Meanwhile the first warp looks back: 32 tiles at once, it gathers the sums of those before its
//          own, up to the nearest that has published the sum of everything up to its end. Then this tile can do so,
//          too. Few warps with many loads each: a group waits once for a tile, and a lane has 64 words of it.
//          That takes NVIDIA's PTX. Elsewhere words go from lane to lane through local memory, and the first lane
//          looks back alone, tile by tile.
//   banks  One word a warp is stored and four neighbouring words are read: no conflict.
//
// Why it ends. A group only waits for tiles that were claimed earlier: tiles are numbered in the order in which groups
// begin (the ticket), whatever order the device starts groups in. OpenCL does not promise that those earlier groups
// make progress meanwhile. So a group polls MAX_POLLS times and then adds up the tile in question itself: the input is
// all it needs.
// Why it is right. A sum and what it means are one word of 64 bits, exchanged and asked for by atomics: who sees one,
// sees the other, and needs no fence. All that may be published for a tile is true, whoever does it.
// Why nothing has to be cleared. Each word of `state` holds the number of the launch that it belongs to, and counts in
// no other. The group that takes the last ticket counts the launches on; then all of this launch have theirs.
//
// Contract
//   launch  max(1, ceil(n / TILE)) groups of exactly BLOCK work-items, one-dimensional
//   in      n words, from a multiple of 16 bytes on; not read when n is 0
//   out     n words, from a multiple of 16 bytes on: out[i] = sum of in[0 .. i), modulo 2^32. No part of `in`, which
//           other groups may have to read again
//   state   8 * (TICKETS + groups) bytes, 8-byte aligned, zero before the first launch, and then left alone: for
//           launches one after the other, of any n that it is large enough for. To be zeroed again after a launch that
//           was aborted, and before launch 2^30, when the numbers begin anew (the upper half of the first word counts)
//   n       any, including 0; at most (2^31 - 1) * TILE
//   device  with atomics of 64 bits (cl_khr_int64_base_atomics). NVIDIA's: of compute capability 7.0 or newer

#ifndef cl_khr_int64_base_atomics
#error "this device has no atomic operations of 64 bits"
#endif
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable

#ifndef BLOCK
#define BLOCK 128u  // work-items per group; a multiple of 32, at most 1024
#endif
#define WARP 32u  // lanes of a warp
#define WARPS (BLOCK / WARP)
#define ROWS 16u                   // times four words of each lane
#define ROW (4 * WARP)             // words of a warp in a row
#define TILE (WARPS * ROWS * ROW)  // words per group
#define TICKETS 32u                // words of `state` that the counter has to itself
#define MAX_POLLS 1024u            // of a tile's word before its sum is computed here

// What a tile's word says, in its upper half, of the number in the lower: 4 * launch + one of these.
#define TILE_ALONE 1u  // the tile's words
#define UP_TO_END 2u   // all words up to the tile's end

ulong status(uint launch, uint what, uint sum) {
  return (ulong)(launch << 2 | what) << 32 | sum;
}

// Words i to i + 3, as far as there are so many. Aligned to 16 bytes, they come at once.
uint4 load(__global const uint* in, ulong i, ulong n) {
  if (i + 3 < n) return *(__global const uint4*)(in + i);
  uint4 words = (uint4)(0);
  if (i < n) words.x = in[i];
  if (i + 1 < n) words.y = in[i + 1];
  if (i + 2 < n) words.z = in[i + 2];
  return words;
}

// Stores what stands before each of four words, given what stands before the first.
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
#define LOOK_BACK_LANES WARP  // lanes that look back

// The word of another lane of the warp. All its lanes must call.
uint shuffle_idx(uint lane, uint word, __local uint* exchange) {
  uint theirs;
  __asm__ volatile("shfl.sync.idx.b32 %0, %1, %2, 0x1f, 0xffffffff;" : "=r"(theirs) : "r"(word), "r"(lane));
  return theirs;
}

// A bit for each lane of the warp. All its lanes must call.
uint ballot(bool yes) {
  uint lanes;
  __asm__ volatile("{ .reg .pred p; setp.ne.u32 p, %1, 0; vote.sync.ballot.b32 %0, p, 0xffffffff; }"
                   : "=r"(lanes) : "r"((uint)yes));
  return lanes;
}
#else
#define EXCHANGE_SLOTS BLOCK  // where each lane leaves its word
#define LOOK_BACK_LANES 1u

// The word of another lane of the warp. All lanes of the group must call.
uint shuffle_idx(uint lane, uint word, __local uint* exchange) {
  exchange[get_local_id(0)] = word;
  barrier(CLK_LOCAL_MEM_FENCE);
  const uint theirs = exchange[get_local_id(0) / WARP * WARP + lane % WARP];
  barrier(CLK_LOCAL_MEM_FENCE);  // the slots are free again
  return theirs;
}
#endif

// The sum of all lanes' words, in each of them.
uint warp_sum(uint word, __local uint* exchange) {
  const uint lane = get_local_id(0) % WARP;
  for (uint bit = WARP / 2; bit > 0; bit /= 2) word += shuffle_idx(lane ^ bit, word, exchange);
  return word;
}

// A share of the sum of a tile that is not the last, from the input. By the lanes that look back.
uint share_of_tile(__global const uint* in, uint tile) {
  __global const uint4* words = (__global const uint4*)(in + (size_t)tile * TILE);
  uint sum = 0;
  for (uint i = get_local_id(0); i < TILE / 4; i += LOOK_BACK_LANES) {
    sum += words[i].x + words[i].y + words[i].z + words[i].w;
  }
  return sum;
}

#ifdef __NV_CL_C_VERSION
// What a tile has published. Adding nothing would do, too; this asks without writing.
ulong published(volatile __global ulong* word) {
  ulong value;
  __asm__ volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(value) : "l"(word) : "memory");
  return value;
}

// The sum of all tiles before one. By a warp: lane k looks at the k-th tile back.
uint sum_before(__global const uint* in, volatile __global ulong* statuses, uint tile, uint launch) {
  const uint lane = get_local_id(0) % WARP;
  uint sum = 0;
  for (uint back = 1 + lane;; back += WARP) {
    // Before the first tile stands nothing, and that is certain.
    volatile __global ulong* const word = &statuses[tile - (back <= tile ? back : 0)];
    ulong seen = back <= tile ? published(word) : status(launch, UP_TO_END, 0);
    for (uint polls = 1;; ++polls) {
      const uint what = (uint)(seen >> 32) - (launch << 2);
      const uint final = ballot(what == UP_TO_END);
      const uint open = ballot(what != UP_TO_END && what != TILE_ALONE);
      const uint wanted = final != 0 ? final ^ (final - 1) : 0xFFFFFFFF;  // as far as the nearest that is final
      if ((open & wanted) == 0) {
        sum += warp_sum(wanted >> lane & 1 ? (uint)seen : 0, 0);
        if (final != 0) return sum;
        break;
      }
      if (polls < MAX_POLLS) {
        if ((open & wanted) >> lane & 1) seen = published(word);
      } else {
        const uint helped = 31 - clz((open & wanted) & -(open & wanted));  // the lane whose tile is added up for it
        const uint distance = shuffle_idx(helped, back, 0);
        const ulong found = status(launch, TILE_ALONE, warp_sum(share_of_tile(in, tile - distance), 0));
        if (lane == helped) {
          // For those who come after. If the tile has published something meanwhile, that stays.
          atom_cmpxchg(word, seen, found);
          seen = found;
        }
      }
    }
  }
}
#else
// The sum of all tiles before one. By a lane.
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
        // For those who come after. If the tile has published something meanwhile, that stays.
        const ulong found = status(launch, TILE_ALONE, share_of_tile(in, tile - back));
        atom_cmpxchg(word, seen, found);
        seen = found;
      }
      what = (uint)(seen >> 32) - (launch << 2);
    }
    sum += (uint)seen;
    if (what == UP_TO_END || back == tile) return sum;  // before the first tile stands nothing
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

  if (get_local_id(0) == 0) {
    const ulong mine = atom_add(state, 1);
    ticket = mine;
    // The last one: the next launch has the next number, and its tickets begin at 0.
    if ((uint)mine == get_num_groups(0) - 1) atom_xchg(state, ((mine >> 32) + 1) << 32);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  const uint tile = (uint)ticket, launch = (uint)(ticket >> 32);

  const size_t first = (size_t)tile * TILE + warp * (ROWS * ROW) + 4 * lane;
  uint4 words[ROWS];
#pragma unroll
  for (uint row = 0; row < ROWS; ++row) words[row] = load(in, first + row * ROW, n);
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
  if (get_local_id(0) == 0) atom_xchg(&statuses[tile], status(launch, tile == 0 ? UP_TO_END : TILE_ALONE, total));

  // The scan of warp_scan.cl, while the others may look at this tile's sum.
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

  if (get_local_id(0) < LOOK_BACK_LANES) {
    const uint sum = tile == 0 ? 0 : sum_before(in, statuses, tile, launch);
    if (lane == 0) {
      if (tile > 0) atom_xchg(&statuses[tile], status(launch, UP_TO_END, sum + total));
      tiles_before = sum;
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  const uint offset = tiles_before;
#pragma unroll
  for (uint row = 0; row < ROWS; ++row) store(out, first + row * ROW, n, offset + before[row], words[row]);
}
