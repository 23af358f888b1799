// SPDX-License-Identifier: MIT
#pragma once

#include <bit>
#include <cstdint>

#include <bankwise/banks/cost.hpp>

namespace bankwise::banks {

/// Accesses and their total cost. Unit of passes, ideal and conflicts: passes, see Cost.
struct Tally {
  std::uint64_t accesses = 0;  ///< instructions, counted per warp
  std::uint64_t lanes = 0;     ///< active lanes, added up
  std::uint64_t passes = 0, ideal = 0, conflicts = 0;
  std::uint64_t unknown = 0;  ///< accesses without a known cost; they are not in the three above
  /// By how much passes and conflicts may be higher, for loops whose length depends on other warps. The three above are
  /// then the least.
  std::uint64_t more_passes = 0, more_conflicts = 0;

  /// Adds an access of the lanes in `mask`, made `times` times. `cost` is null if it has no known cost.
  void add(std::uint64_t mask, const Cost* cost, std::uint64_t times = 1) {
    accesses += times;
    lanes += times * unsigned(std::popcount(mask));
    if (cost == nullptr) {
      unknown += times;
      return;
    }
    passes += times * cost->passes;
    ideal += times * cost->ideal;
    conflicts += times * cost->conflicts;
  }

  void add(const Tally& other, std::uint64_t times = 1) {
    accesses += times * other.accesses;
    lanes += times * other.lanes;
    passes += times * other.passes;
    ideal += times * other.ideal;
    conflicts += times * other.conflicts;
    unknown += times * other.unknown;
    more_passes += times * other.more_passes;
    more_conflicts += times * other.more_conflicts;
  }

  bool operator==(const Tally&) const = default;
};

}  // namespace bankwise::banks
