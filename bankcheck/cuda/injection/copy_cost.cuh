// What one asynchronous copy costs on the GPU itself, as warp_cost.cuh has it of other accesses: the bank model's rules
// for compute capability 8.0 to 12.x (docs/bank_model.md#cp-async).
#pragma once

#include "bankcheck/cuda/injection/warp_cost.cuh"

namespace bankwise::cuda {

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
