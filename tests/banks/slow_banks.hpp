// SPDX-License-Identifier: MIT
//
// The bank rules a second time: slow, obvious, one small function a rule. It shares nothing with common/bankwise/banks but the
// names of the operations, so that a slip in the model's tables or in its arithmetic shows as a difference.
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

/// What `mask` pays for `addresses` on an architecture.
SlowCost cost(std::string_view architecture, banks::Operation operation, unsigned width, std::uint64_t mask,
              const std::vector<std::uint32_t>& addresses);

/// A half-warp of compute capability 1.x that loads: a list of banks, each the lanes waiting for each of its words.
using HalfWarp = std::vector<std::vector<unsigned>>;
struct Steps {
  unsigned least = 0, most = 0;
};
/// Over every choice that the hardware may make, tried one by one.
Steps steps(HalfWarp half_warp);

}  // namespace bankwise::slow
