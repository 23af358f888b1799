// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include <bankwise/banks/cost.hpp>

namespace bankwise::banks {

/// A lane, in the bank that delivers to it.
struct Touch {
  unsigned lane_group;  ///< index into Cost::lane groups
  unsigned bank;
  unsigned turn;  ///< of this bank in this lane group, from 0; lanes of one turn are served together
  unsigned lane;
};

/// Who is served where and when, in the order of lane groups and lanes: an explanation of `cost`, which must be what
/// cost(architecture, access) gave. Where the hardware may choose, one of its best choices.
std::vector<Touch> layout(const Architecture& architecture, const Access& access, const Cost& cost);

}  // namespace bankwise::banks
