// SPDX-License-Identifier: MIT
//
// The record of a launch in a trace file, which is the longest one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <bankwise/trace/json_values.hpp>
#include <bankwise/trace/trace.hpp>

namespace bankwise::trace {

// Sums over all records of a file stay below these, so no later addition can overflow.
inline constexpr std::uint64_t max_count = std::uint64_t{1} << 48;   ///< of anything
inline constexpr std::uint64_t max_passes = std::uint64_t{1} << 58;  ///< accesses cost at most 64 * 16 passes

/// What a launch may refer to: the parts of its kernel that earlier records have defined.
struct KnownParts {
  std::size_t sites = 0, arrays = 0;
  const std::vector<Pattern>& patterns;
  unsigned warp = 32;  ///< lanes
};

/// The launch with the file's numbers of sites and arrays. Untrusted input: calls wrong() (json_values.hpp).
KernelTrace read_launch(const Object& record, const KnownParts& kernel);

/// Multiplies all counts of a launch. The caller has checked that no sum of the file becomes too large.
void repeat(KernelTrace& launch, std::uint64_t times);

}  // namespace bankwise::trace
