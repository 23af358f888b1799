#pragma once

#include <cstdint>
#include <functional>

#include <bankwise/trace/trace.hpp>
#include "bankcheck/fit/fit.hpp"

namespace fit_traces {

using namespace bankwise;

inline const fit::Architectures sm_90{banks::find_architecture("sm_90")};

/// A kernel with one site, one array and one launch.
inline trace::KernelTrace kernel(std::uint32_t bytes) {
  trace::KernelTrace trace{.kernel = "k", .blocks = 1, .levels = 1};
  trace.shapes.push_back({{256, 1, 1}, {256, 1, 1}, 1});
  trace.sites.push_back({.file = "k.cu", .line = 1, .function = "k"});
  trace.arrays.push_back({"array", 0, bytes});
  return trace;
}

/// An access of the lanes of the mask.
inline trace::Pattern access(banks::Operation operation, unsigned width,
                             const std::function<std::uint32_t(std::uint32_t)>& address,
                             std::uint64_t mask = 0xFFFFFFFF, std::uint64_t count = 1) {
  trace::Pattern pattern{.operation = operation, .width = width, .mask = mask, .count = count};
  for (std::uint32_t lane = 0; lane < banks::max_lanes - unsigned(std::countl_zero(mask)); ++lane) {
    pattern.addresses.push_back((mask >> lane & 1) != 0 ? address(lane) : 0);
  }
  return pattern;
}

/// The option of a kind; null if there is none.
inline const fit::PricedOption* option(const fit::ArrayFit& array, fit::ChangeKind kind) {
  for (const fit::PricedOption& option : array.options) {
    if (option.option.change.kind() == kind) return &option;
  }
  return nullptr;
}

}  // namespace fit_traces
