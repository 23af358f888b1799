// SPDX-License-Identifier: MIT
//
// A second implementation of the bank rules: slow, obvious, one small function per rule. It shares only the names of
// the operations with common/bankwise/banks, so a mistake in the model's tables or arithmetic shows as a difference.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include <bankwise/banks/access.hpp>

namespace bankwise::slow {

struct SlowCost {
  unsigned passes = 0, ideal = 0, conflicts = 0, passes_max = 0, conflicts_max = 0, floor = 0;
  bool refused = false;

  bool operator==(const SlowCost&) const = default;
};

/// The cost of `addresses` for the lanes of `mask` on an architecture. Only copies need `sources`.
SlowCost cost(std::string_view architecture, banks::Operation operation, unsigned width, std::uint64_t mask,
              const std::vector<std::uint32_t>& addresses, const std::vector<std::uint32_t>& sources);

/// A half-warp of compute capability 1.x that loads: a list of banks, each the lanes waiting for each of its words.
using HalfWarp = std::vector<std::vector<unsigned>>;
struct Steps {
  unsigned least = 0, most = 0;
};
/// Over every choice of the hardware, tried one by one.
Steps steps(HalfWarp half_warp);

}  // namespace bankwise::slow
