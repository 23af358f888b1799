// SPDX-License-Identifier: MIT
//
// How an architecture's warps execute a pattern.
#pragma once

#include <span>
#include <string>
#include <variant>

#include <bankwise/banks/cost.hpp>
#include <bankwise/trace/trace.hpp>

namespace bankwise::trace {

/// One of the warps that a pattern's lanes fill.
struct WarpAccess {
  unsigned number = 0;      ///< within the pattern
  std::uint32_t array = 0;  ///< of its first active lane
  bool mixed = false;
  banks::Access access;
  std::variant<banks::Cost, std::string> answer;  ///< or why there is no cost

  const banks::Cost* cost() const { return std::get_if<banks::Cost>(&answer); }
};

/// The number of the architecture's warps that make one of the trace's; 0 if the trace's warps do not split that way.
inline unsigned warps_in(const KernelTrace& kernel, const banks::Architecture& architecture) {
  if (kernel.warp == architecture.warp || (!kernel.splits && kernel.warp == architecture.lanes)) return 1;
  return kernel.splits && kernel.warp % architecture.warp == 0 ? kernel.warp / architecture.warp : 0;
}

inline std::variant<banks::Cost, std::string> cost_or_reason(const banks::Architecture& architecture,
                                                             const Pattern& pattern, const banks::Access& access) {
  if (pattern.is_loop) {
    return "a " + std::to_string(pattern.width) +
           "-byte atomic of this kind is a loop whose length depends on the data";
  }
  const auto answer = banks::cost(architecture, access);
  if (const auto* refusal = std::get_if<banks::Refusal>(&answer)) {
    return banks::sentence(architecture, access, *refusal);
  }
  return std::get<banks::Cost>(answer);
}

/// The lanes of one of `warps` equal parts of a warp, moved to bit 0.
inline std::uint64_t lanes_in(std::uint64_t mask, unsigned lanes, unsigned number) {
  return mask >> lanes * number & ~std::uint64_t{0} >> (banks::max_lanes - lanes);
}

/// Calls `visit(const WarpAccess&)` for each of the `warps` parts that has an active lane.
template <class Visit>
void for_each_warp(const Pattern& pattern, unsigned warp, unsigned warps, const banks::Architecture& architecture,
                   Visit visit) {
  const unsigned lanes = warp / warps;
  for (unsigned number = 0; number < warps; ++number) {
    const std::uint64_t mask = lanes_in(pattern.mask, lanes, number);
    if (mask == 0) continue;
    const unsigned first = number * lanes, last = banks::max_lanes - unsigned(std::countl_zero(mask));
    WarpAccess one{number, pattern.array, false, {pattern.operation, pattern.width, mask, {}}, {}};
    one.access.addresses = std::span(pattern.addresses).subspan(first, last);
    if (!pattern.sources.empty()) one.access.sources = std::span(pattern.sources).subspan(first, last);
    if (!pattern.lane_arrays.empty()) {
      one.array = pattern.lane_arrays[first + unsigned(std::countr_zero(mask))];
      banks::for_each_lane(mask, [&](unsigned lane) { one.mixed |= pattern.lane_arrays[first + lane] != one.array; });
    }
    one.answer = cost_or_reason(architecture, pattern, one.access);
    visit(one);
  }
}

}  // namespace bankwise::trace
