// SPDX-License-Identifier: MIT
//
// How an architecture's warps execute a pattern.
#pragma once

#include <span>
#include <string>
#include <variant>

#include <bankwise/banks/cost.hpp>
#include <bankwise/banks/tally.hpp>
#include <bankwise/trace/loop_cost.hpp>
#include <bankwise/trace/trace.hpp>

namespace bankwise::trace {

/// One of the warps that a pattern's lanes fill.
struct WarpAccess {
  unsigned number = 0;      ///< within the pattern
  std::uint32_t array = 0;  ///< of its first active lane
  bool mixed = false;
  banks::Access access;
  std::variant<banks::Cost, std::string> answer;  ///< or why there is no cost
  unsigned more_passes = 0, more_conflicts = 0;   ///< of a loop, whose cost is the least; see loop_cost.hpp

  const banks::Cost* cost() const { return std::get_if<banks::Cost>(&answer); }
  void add_to(banks::Tally& tally, std::uint64_t count) const {
    tally.add(access.mask, cost(), count);
    tally.more_passes += count * more_passes;
    tally.more_conflicts += count * more_conflicts;
  }
};

/// The number of the architecture's warps that make one of the trace's; 0 if the trace's warps do not split that way.
inline unsigned warps_in(const KernelTrace& kernel, const banks::Architecture& architecture) {
  if (kernel.warp == architecture.warp || (!kernel.splits && kernel.warp == architecture.lanes)) return 1;
  return kernel.splits && kernel.warp % architecture.warp == 0 ? kernel.warp / architecture.warp : 0;
}

/// Fills in the cost, or why there is none. `block_warps`: the most warps of a block, 0 if that is unknown.
inline void find_cost(const banks::Architecture& architecture, const Pattern& pattern, unsigned block_warps,
                      WarpAccess& one) {
  if (pattern.is_loop) {
    const auto loop = loop_cost(architecture, pattern.operation, one.access, block_warps);
    if (loop) {
      one.answer = loop->least;
      one.more_passes = loop->more_passes;
      one.more_conflicts = loop->more_conflicts;
      return;
    }
    one.answer =
        "a " + std::to_string(pattern.width) + "-byte atomic of this kind is a loop whose length depends on the data";
    return;
  }
  const auto answer = banks::cost(architecture, one.access);
  if (const auto* refusal = std::get_if<banks::Refusal>(&answer)) {
    one.answer = banks::sentence(architecture, one.access, *refusal);
  } else {
    one.answer = std::get<banks::Cost>(answer);
  }
}

/// The lanes of one of `warps` equal parts of a warp, moved to bit 0.
inline std::uint64_t lanes_in(std::uint64_t mask, unsigned lanes, unsigned number) {
  return mask >> lanes * number & ~std::uint64_t{0} >> (banks::max_lanes - lanes);
}

/// Calls `visit(const WarpAccess&)` for each of the `warps` parts that has an active lane; `warps` is not 0.
/// `block_warps` as in find_cost().
template <class Visit>
void for_each_warp(const Pattern& pattern, unsigned warp, unsigned warps, const banks::Architecture& architecture,
                   unsigned block_warps, Visit visit) {
  const unsigned lanes = warp / warps;  // NOLINT(clang-analyzer-core.DivideZero): at least 1
  for (unsigned number = 0; number < warps; ++number) {
    const std::uint64_t mask = lanes_in(pattern.mask, lanes, number);
    if (mask == 0) continue;
    const unsigned first = number * lanes, last = banks::max_lanes - unsigned(std::countl_zero(mask));
    WarpAccess one{number, pattern.array, false, {pattern.operation, pattern.width, mask, {}}, {}, 0, 0};
    one.access.addresses = std::span(pattern.addresses).subspan(first, last);
    if (!pattern.sources.empty()) one.access.sources = std::span(pattern.sources).subspan(first, last);
    if (!pattern.lane_arrays.empty()) {
      one.array = pattern.lane_arrays[first + unsigned(std::countr_zero(mask))];
      banks::for_each_lane(mask, [&](unsigned lane) { one.mixed |= pattern.lane_arrays[first + lane] != one.array; });
    }
    find_cost(architecture, pattern, block_warps, one);
    visit(one);
  }
}

}  // namespace bankwise::trace
