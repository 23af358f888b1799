// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include <bankwise/banks/access.hpp>
#include <bankwise/study/case_study.hpp>

namespace bankwise::access_patterns {

/// The access patterns as variants, with their kernels, plans and references. The extent's width is the number of
/// iterations. The plan's first scratch buffer receives a 64-bit number: the clock cycles of all accesses, or 0 if the
/// API has no clock.
const CaseStudy& case_study();

/// The access that the kernel of a pattern repeats.
struct RepeatedAccess {
  banks::Operation operation = banks::Operation::load;
  unsigned width = 4;                    ///< bytes per lane
  std::uint64_t mask = 0;                ///< active lanes of a warp
  std::vector<std::uint32_t> addresses;  ///< byte offset of each lane, `banks::max_lanes` of them
  std::uint64_t count = 0;               ///< accesses of all warps of the block
};
RepeatedAccess repeated_access(const Variant& variant, Extent extent);

}  // namespace bankwise::access_patterns
