// What one access costs on the GPU itself, for accesses whose pattern the table has no room for: the bank model's
// rules for compute capability 7.5 to 12.x (banks/architectures/nvidia.hpp), those of copies for 8.0 to 12.x
// (docs/bank_model.md#cp-async). A test compares the constants with these at compile time, and the costs of random
// accesses when it runs.
#pragma once

#include <stdint.h>  // NOLINT(modernize-deprecated-headers): also compiled as device code, which has no namespace std

#include "bankcheck/cuda/injection/device_table.hpp"

namespace bankwise::cuda {

constexpr uint32_t BANKS = 32, BANK_BYTES = 4;
constexpr uint32_t MERGING_WIDTH = 8;  ///< the narrowest load whose lane groups may merge

/// An access takes whole elements of 1 << element_shift() bytes: words, or what is wider.
__device__ constexpr uint32_t element_shift(uint32_t width) { return width == 16 ? 4 : width == 8 ? 3 : 2; }
/// Aligned elements in the banks, and the lanes of a lane group, which are neighbours.
__device__ constexpr uint32_t lane_group_size(uint32_t width) { return BANKS * BANK_BYTES >> element_shift(width); }

/// What an access costs; the same in all lanes. All are at most 64.
struct WarpCost {
  uint32_t ideal = 0;        ///< lane groups with an active lane
  uint32_t passes = 0;       ///< if lanes that access the same word are served together
  uint32_t lane_passes = 0;  ///< if they queue: most atomics of 4 bytes
};

/// The largest `value`, below 64, of the lanes `among`, which are of `mask`; all lanes of `mask` call it.
__device__ __forceinline__ uint32_t largest(uint32_t mask, uint32_t value, uint32_t among) {
  uint32_t result = 0;
#pragma unroll 1
  for (int bit = 5; bit >= 0; --bit) {
    const uint32_t have = __ballot_sync(mask, value >> bit & 1) & among;
    if (have == 0) continue;
    among = have;
    result |= 1u << bit;
  }
  return result;
}

/// Whether the lanes n and n^distance have the same address wherever both are in `mask`.
__device__ __forceinline__ bool partners_agree(uint32_t mask, uint32_t address, uint32_t lane, uint32_t distance) {
  const uint32_t partner = lane ^ distance;
  const bool active = (mask >> partner & 1) != 0;
  return __all_sync(mask, __shfl_sync(mask, address, active ? partner : lane) == address);
}

/// The neighbouring lanes, `count` of them, that a lane is served with.
__device__ __forceinline__ uint32_t lane_group_of(uint32_t lane, uint32_t count) {
  return 0xffffffffu >> (32 - count) << (lane / count * count);
}

/// The sum of `value` over the lane groups with a lane in `mask`. All its lanes call it, with the value of their group.
__device__ __forceinline__ uint32_t sum_of_groups(uint32_t mask, uint32_t group, uint32_t value) {
  uint32_t sum = 0;
#pragma unroll 1
  for (uint32_t rest = mask; rest != 0;) {
    const uint32_t from = __ffs(rest) - 1;
    sum += __shfl_sync(mask, value, from);
    rest &= ~__shfl_sync(mask, group, from);
  }
  return sum;
}

/// The cost of an access of `width` bytes (1, 2, 4, 8 or 16, aligned) by the lanes of `mask`, which all call it.
/// `merges`: a load, of which two neighbouring lane groups are served together if lanes in pairs agree.
__device__ __forceinline__ WarpCost warp_cost(uint32_t address, uint32_t width, bool merges, uint32_t mask,
                                              uint32_t lane) {
  const uint32_t shift = element_shift(width), places = lane_group_size(width);
  uint32_t together = places;
  if (merges && width >= MERGING_WIDTH &&
      (partners_agree(mask, address, lane, 1) || partners_agree(mask, address, lane, 2))) {
    together *= 2;
  }
  const uint32_t group = lane_group_of(lane, together) & mask;
  const uint32_t element = address >> shift;
  const uint32_t same = __match_any_sync(mask, element) & group;
  const uint32_t leaders = __ballot_sync(mask, uint32_t(__ffs(same)) - 1 == lane);
  const uint32_t place = __match_any_sync(mask, element & (places - 1)) & group;
  const uint32_t elements = largest(mask, __popc(place & leaders), group);
  const uint32_t lanes = largest(mask, __popc(place), group);
  const uint32_t sums = sum_of_groups(mask, group, 1 | elements << 8 | lanes << 16);
  return {sums & 0xff, sums >> 8 & 0xff, sums >> 16};
}

/// What an access to global memory moves and asks for; the same in all lanes.
struct GlobalCost {
  uint32_t lines = 0, sectors = 0, elements = 0;  ///< different ones; an element is `width` bytes
};

/// How many different values the lanes of `mask` have, which all call it.
__device__ __forceinline__ uint32_t different(uint32_t mask, uint64_t value, uint32_t lane) {
  const uint32_t same = __match_any_sync(mask, static_cast<unsigned long long>(value));
  return __popc(__ballot_sync(mask, uint32_t(__ffs(same)) - 1 == lane));
}

/// The cost of an access of `width` bytes, a power of two of at most 32. GPUs require that addresses are aligned to it,
/// so no lane's bytes are in two sectors.
__device__ __forceinline__ GlobalCost global_cost(uint64_t address, uint32_t width, uint32_t mask, uint32_t lane) {
  return {different(mask, address >> LINE_SHIFT, lane), different(mask, address >> SECTOR_SHIFT, lane),
          different(mask, address >> (31 - __clz(int(width))), lane)};
}

// Asynchronous copies.

/// What a lane copies: byte addresses in shared memory and in numbered lines of global memory; !reads: it writes zeros.
struct LaneCopy {
  uint32_t to, from;
  bool reads;
};
__device__ constexpr LaneCopy unpack_copy(uint32_t address, uint32_t width) {
  return {address & (COPY_ZEROS - 1), 4 * (address >> (width == MAY_PASS_L1 ? 22 : 27)), (address & COPY_ZEROS) == 0};
}

/// The cost of copying `width` bytes (4, 8 or 16) through the L1 cache by the lanes of `mask`, which all call it.
__device__ __forceinline__ WarpCost cost_through_l1(LaneCopy copy, uint32_t width, uint32_t mask, uint32_t lane) {
  const uint32_t shift = element_shift(width), places = lane_group_size(width);
  const uint32_t group = lane_group_of(lane, places) & mask;
  const uint32_t to = __match_any_sync(mask, copy.to >> shift & (places - 1)) & group;
  // Lanes that write zeros have no place.
  const uint32_t from = __match_any_sync(mask, copy.reads ? copy.from >> shift & (places - 1) : places) & group;
  const uint32_t met = largest(mask, __popc(copy.reads ? to | from : to), group);
  const uint32_t sums = sum_of_groups(mask, group, 1 | met << 8);
  return {sums & 0xff, sums >> 8, sums >> 8};
}

/// The passes in which the lanes of `moving` copy 16 bytes each, all to different places. They all call it.
__device__ __forceinline__ uint32_t passes_of_moves(uint32_t to, uint32_t from, uint32_t moving, uint32_t lane) {
  // Slots of 16 bytes: 8 bits in the numbered lines of global memory, 17 in shared memory.
  const uint32_t source = from >> 4, target = to >> 4 & 0x1ffff, change = source ^ target;
  const uint32_t later = ~1u << lane;
  const uint32_t same_source = source | (target >> 3) << 8 | (change & 1) << 22;
  const uint32_t turn = __popc(__match_any_sync(moving, same_source) & later);
  const uint32_t same_sectors = source >> 1 | (target >> 1) << 7 | (change & 1) << 23 | turn << 24;
  const uint32_t together = __match_any_sync(moving, same_sectors), upper = __ballot_sync(moving, source & 1);
  const uint32_t sides = ((together & ~upper) != 0 ? 1 : 0) | ((together & upper) != 0 ? 2 : 0);
  const uint32_t pass = source >> 3 | (target >> 3) << 5 | (change & 3) << 19 | sides << 21 | turn << 23;
  return different(moving, pass, lane);
}

/// The same past the L1 cache, 16 bytes by each lane.
__device__ __forceinline__ WarpCost cost_past_l1(LaneCopy copy, uint32_t mask, uint32_t lane) {
  const uint32_t reading = __ballot_sync(mask, copy.reads);
  // If some lanes write zeros, first all do.
  WarpCost cost;
  if (reading != mask) cost = cost_through_l1({copy.to, 0, false}, 16, mask, lane);
  // Of lanes with the same destination only the first counts.
  const uint32_t same = __match_any_sync(mask, copy.to >> 4) & reading;
  const bool moves = copy.reads && uint32_t(__ffs(same)) - 1 == lane;
  const uint32_t moving = __ballot_sync(mask, moves);
  if (moving == 0) return cost;
  uint32_t passes = 0;
  if (moves) passes = passes_of_moves(copy.to, copy.from, moving, lane);
  passes = cost.passes + __shfl_sync(mask, passes, __ffs(moving) - 1);
  return {cost.ideal + (__popc(moving) + 7) / 8, passes, passes};
}

}  // namespace bankwise::cuda
