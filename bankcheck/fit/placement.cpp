// SPDX-License-Identifier: MIT
#include "bankcheck/fit/placement.hpp"

namespace bankwise::fit {

Placement::Placement(const trace::KernelTrace& trace) {
  for (const trace::Array& array : trace.arrays) places_.push_back({{}, array.offset, array.offset, 0});
}

void Placement::set(std::uint32_t array, const Change& change, std::uint64_t extent) {
  constexpr std::uint64_t unit = 256;
  places_[array].change = change;
  places_[array].growth = (change.bytes_of(extent) - extent + unit - 1) / unit * unit;
  for (Place& place : places_) {
    place.moved = place.offset;
    for (const Place& other : places_) {
      if (other.offset < place.offset) place.moved += other.growth;
    }
  }
}

void Placement::move(trace::Pattern& pattern) const {
  banks::for_each_lane(pattern.mask, [&](unsigned lane) {
    if (lane >= pattern.addresses.size()) return;  // a row of a matrix that no lane gives
    const std::uint32_t array = pattern.lane_arrays.empty() ? pattern.array : pattern.lane_arrays[lane];
    pattern.addresses[lane] = (*this)(array, pattern.addresses[lane]);
  });
}

trace::KernelTrace moved(trace::KernelTrace trace, const Placement& placement) {
  // Which neighbours a device compiler would merge is not known for the new addresses.
  trace.merged.reset();
  for (trace::Pattern& pattern : trace.patterns) placement.move(pattern);
  return trace;
}

}  // namespace bankwise::fit
