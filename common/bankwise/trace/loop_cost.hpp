// SPDX-License-Identifier: MIT
//
// Atomics that shared memory has no instruction for: sums of floating-point numbers, and most operations on 64 bits.
// For compute capability 7.5 to 10.0 nvcc 13.0 makes each of them a loop: LDS, the operation, ATOMS.CAST.SPIN, and
// again for the lanes whose word changed in between.
#pragma once

#include <optional>

#include <bankwise/banks/cost.hpp>

namespace bankwise::trace {

/// The least cost of such a loop, and how much more it may be.
struct LoopCost {
  banks::Cost least;
  unsigned more_passes = 0, more_conflicts = 0;
};

/// Least: no other warp updates the words, so the rounds are the most lanes that share a word, and the
/// compare-and-swap takes the passes of a store. Most: all `block_warps` warps of the block update the same words at
/// the same time, so there are that many times as many rounds, each with all lanes, and the compare-and-swap takes the
/// passes of `atomic.cas`. Nothing without `block_warps`, for operations that are not one whole loop (a watched
/// compare-and-swap is a round), or if the architecture has no rule for one of the accesses.
std::optional<LoopCost> loop_cost(const banks::Architecture& architecture, banks::Operation operation,
                                  const banks::Access& access, unsigned block_warps);

/// One sentence that explains the range.
inline constexpr const char* loop_range_reason =
    "an atomic without an instruction is a loop of a load and a compare-and-swap: the range is from no other warp "
    "updating its words to all warps of the block updating them at the same time";

}  // namespace bankwise::trace
