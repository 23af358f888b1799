// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include <bankwise/banks/access.hpp>
#include <bankwise/study/case_study.hpp>

namespace bankwise::access_patterns {

/// The patterns as variants, with their kernels, plans and references. The extent's width is the number of turns. The
/// plan's first scratch buffer gets a 64-bit count of the clocks that the accesses took, 0 where the API has no clock.
const CaseStudy& case_study();

/// What a pattern's kernel repeats.
struct RepeatedAccess {
  banks::Operation operation = banks::Operation::load;
  unsigned width = 4;                    ///< bytes per lane
  std::uint64_t mask = 0;                ///< active lanes of a warp
  std::vector<std::uint32_t> addresses;  ///< byte offsets of its lanes, `banks::max_lanes` of them
  std::uint64_t count = 0;               ///< accesses of all warps together, in the one block that is launched
};
RepeatedAccess repeated_access(const Variant& variant, Extent extent);

}  // namespace bankwise::access_patterns
