// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "telescoping_sum.hpp"

namespace bankwise {

/// How many launches, and of how many tiles at most.
struct Soak {
  std::uint64_t launches, max_tiles;
};

/// Sufficient for a device of this kind; a CPU is slower by orders of magnitude.
Soak soak_for(const gpu::DeviceInfo& device);

/// Launches a single-pass kernel repeatedly, all on one state: sizes at which index arithmetic breaks and random sizes,
/// in a random but reproducible order. Each launch has a different input, so data of an earlier launch is wrong in any
/// later one. Each result is checked, up to `beyond` words past its end. Prints a summary on stdout. Empty if all was
/// right, otherwise one line. `blocks`: instead of the plans' number.
std::string soak(gpu::Session& session, const Law& law, const CaseStudy& study, const Variant& variant, Soak how,
                 std::uint64_t blocks = 0);

}  // namespace bankwise
