// Internal to common/bankwise/emulator: the lanes that meet in a warp intrinsic. Masks of CUDA and PTX have 32 bits:
// those of the caller's half of a warp of 64 lanes. Those of HIP have 64 bits, for the whole warp.
#pragma once

#include <algorithm>
#include <cstdint>

#include <bankwise/emulator/core/lane.hpp>
#include <bankwise/emulator/cuda/warp.hpp>

namespace bankwise::emulator {

template <class Mask>
inline constexpr unsigned lanes_of_mask = 8 * sizeof(Mask);

/// The lanes that took part, and their values.
template <class Mask>
struct WarpPart {
  Mask came;
  const std::uint64_t* values;

  bool has(unsigned lane) const { return (came >> lane & 1) != 0; }
  template <class Predicate>
  Mask lanes_with(Predicate predicate) const {
    Mask lanes = 0;
    for (unsigned lane = 0; lane < lanes_of_mask<Mask>; ++lane) {
      if (has(lane) && predicate(values[lane])) lanes |= Mask{1} << lane;
    }
    return lanes;
  }
  template <class T>
  T reduced(device::Reduction operation) const {
    T result{};
    bool first = true;
    for (unsigned lane = 0; lane < lanes_of_mask<Mask>; ++lane) {
      if (!has(lane)) continue;
      const T value = T(unsigned(values[lane]));
      result = first ? value : combined(operation, result, value);
      first = false;
    }
    return result;
  }

 private:
  template <class T>
  static T combined(device::Reduction operation, T a, T b) {
    switch (operation) {
      case device::Reduction::add: return T(unsigned(a) + unsigned(b));
      case device::Reduction::minimum: return std::min(a, b);
      case device::Reduction::maximum: return std::max(a, b);
      case device::Reduction::bit_and: return a & b;
      case device::Reduction::bit_or: return a | b;
      case device::Reduction::bit_xor: return a ^ b;
    }
    return a;
  }
};

using HalfWarp = WarpPart<std::uint32_t>;

/// Waits for the lanes that `mask` names.
template <class Mask>
WarpPart<Mask> meet(WarpMeeting kind, Mask mask, std::uint64_t value, const void* caller) {
  const LaneIdentity& lane = this_lane();
  const unsigned first = lane.lane & (64 - lanes_of_mask<Mask>);
  const std::uint64_t warp_mask = lane.warp_size >= 64 ? ~0ull : (1ull << lane.warp_size) - 1;
  const Meeting meeting = meet_warp(kind, std::uint64_t{mask} << first & warp_mask, value, caller);
  return {Mask(meeting.mask >> first), meeting.values + first};
}

/// The lane from which a shuffle takes its value, as PTX's shfl.sync with the operands b and c; a lane that would take
/// it from beyond its segment keeps its own, and is not valid. `all`: 31, or 63 for a warp of 64 lanes.
struct ShuffleSource {
  unsigned lane;
  bool valid;
};
inline ShuffleSource source_of(device::Shuffle how, unsigned lane, unsigned by, unsigned control, unsigned all = 31) {
  const unsigned segment = control >> 8 & all, first = lane & segment, last = first | (control & all & ~segment);
  by &= all;
  if (how == device::Shuffle::up) return by + last > lane ? ShuffleSource{lane, false} : ShuffleSource{lane - by, true};
  const unsigned source = how == device::Shuffle::down           ? lane + by
                          : how == device::Shuffle::exclusive_or ? lane ^ by
                                                                 : first | (by & ~segment);
  return source > last ? ShuffleSource{lane, false} : ShuffleSource{source, true};
}

}  // namespace bankwise::emulator
