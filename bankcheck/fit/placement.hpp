// SPDX-License-Identifier: MIT
//
// Where the arrays of a kernel lie once some of them are changed.
#pragma once

#include <cstdint>
#include <vector>

#include <bankwise/trace/trace.hpp>
#include "bankcheck/fit/change.hpp"

namespace bankwise::fit {

/// A change of each array of a kernel, by its index in the trace. Arrays behind one that grows move by a multiple of
/// 256 bytes, which keeps the banks of all architectures.
class Placement {
 public:
  explicit Placement(const trace::KernelTrace& trace);

  /// Changes one array, of `extent` bytes.
  void set(std::uint32_t array, const Change& change, std::uint64_t extent);

  /// The new address of a byte of an array.
  std::uint32_t operator()(std::uint32_t array, std::uint32_t address) const {
    const Place& place = places_[array];
    return std::uint32_t(place.moved + place.change(std::uint64_t{address} - place.offset));
  }
  /// Moves the addresses of a pattern.
  void move(trace::Pattern& pattern) const;

 private:
  struct Place {
    Change change;
    std::uint64_t offset = 0, moved = 0, growth = 0;
  };
  std::vector<Place> places_;
};

/// The trace with all accesses moved, without what a device compiler may merge.
trace::KernelTrace moved(trace::KernelTrace trace, const Placement& placement);

}  // namespace bankwise::fit
