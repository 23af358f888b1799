// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include <bankwise/banks/cost.hpp>

namespace bankwise::banks {

/// A lane, in the bank that delivers to it.
struct Touch {
  unsigned lane_group;  ///< index into Cost::lane groups
  unsigned bank;
  unsigned turn;  ///< in which pass of this bank and lane group, from 0; lanes of one pass are served together
  unsigned lane;
};

/// Where and in which pass each lane is served, in the order of lane groups and lanes: an explanation of `cost`, which
/// must come from cost(architecture, access). If the hardware may choose, one of its best choices. Empty for cp.async:
/// in which pass it serves a lane is not known.
std::vector<Touch> layout(const Architecture& architecture, const Access& access, const Cost& cost);

}  // namespace bankwise::banks
