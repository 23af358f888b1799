// SPDX-License-Identifier: MIT
#pragma once

#include <bit>
#include <cstdint>

#include <bankwise/banks/cost.hpp>

namespace bankwise::banks {

/// Accesses, and what they cost together. Unit of passes, ideal and conflicts: passes, see Cost.
struct Tally {
  std::uint64_t accesses = 0;  ///< instructions of warps
  std::uint64_t lanes = 0;     ///< active in them, added up
  std::uint64_t passes = 0, ideal = 0, conflicts = 0;
  std::uint64_t unknown = 0;  ///< accesses that the model has no cost for, and that the three above leave out

  /// An access of the lanes in `mask`. No cost: null.
  void add(std::uint64_t mask, const Cost* cost) {
    ++accesses;
    lanes += unsigned(std::popcount(mask));
    if (cost == nullptr) {
      ++unknown;
      return;
    }
    passes += cost->passes;
    ideal += cost->ideal;
    conflicts += cost->conflicts;
  }

  void add(const Tally& other) {
    accesses += other.accesses;
    lanes += other.lanes;
    passes += other.passes;
    ideal += other.ideal;
    conflicts += other.conflicts;
    unknown += other.unknown;
  }

  /// ALU utilization: active lanes / (accesses * warp). 0 without accesses.
  double utilization(unsigned warp) const { return accesses == 0 ? 0 : double(lanes) / (double(accesses) * warp); }

  bool operator==(const Tally&) const = default;
};

}  // namespace bankwise::banks
