// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <string>

#include "telescoping_sum.hpp"

namespace bankwise {

/// How long, and up to how many tiles a launch.
struct Soak {
  std::uint64_t launches, max_tiles;
};

/// Enough for a device of this kind; a CPU is slower by orders of magnitude.
Soak soak_for(const gpu::DeviceInfo& device);

/// Launches of a single pass one after the other, all on one state: sizes where arithmetic breaks and sizes at random, in
/// an order at random, but always the same. Each has an input of its own, so that what an earlier launch has left is
/// wrong in any later one; and each is checked, up to `beyond` words behind its result. Says on stdout what it has done.
/// Empty if all was right, else one line. `change` may alter the plans.
std::string soak(gpu::Session& session, const Law& law, const CaseStudy& study, const Variant& variant, Soak how,
                 const std::function<void(Plan&)>& change = {});

}  // namespace bankwise
