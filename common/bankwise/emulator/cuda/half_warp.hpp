// Internal to common/bankwise/emulator: the lanes that meet in a warp intrinsic of CUDA or PTX; masks have 32 bits:
// those of the caller's half of a warp of 64 lanes.
#pragma once

#include <algorithm>
#include <cstdint>

#include <bankwise/emulator/core/lane.hpp>
#include <bankwise/emulator/cuda/warp.hpp>

namespace bankwise::emulator {

/// The lanes that took part, and their values.
struct HalfWarp {
  std::uint32_t came;
  const std::uint64_t* values;

  bool has(unsigned lane) const { return (came >> lane & 1) != 0; }
  template <class Predicate>
  std::uint32_t lanes_with(Predicate predicate) const {
    std::uint32_t lanes = 0;
    for (unsigned lane = 0; lane < 32; ++lane) {
      if (has(lane) && predicate(values[lane])) lanes |= 1u << lane;
    }
    return lanes;
  }
  template <class T>
  T reduced(device::Reduction operation) const {
    T result{};
    bool first = true;
    for (unsigned lane = 0; lane < 32; ++lane) {
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

/// Waits for the lanes of the caller's half that `mask` names.
inline HalfWarp meet_half(WarpMeeting kind, std::uint32_t mask, std::uint64_t value, const void* caller) {
  const LaneIdentity& lane = this_lane();
  const unsigned first = lane.lane & 32;
  const std::uint64_t warp_mask = lane.warp_size >= 64 ? ~0ull : (1ull << lane.warp_size) - 1;
  const Meeting meeting = meet_warp(kind, std::uint64_t{mask} << first & warp_mask, value, caller);
  return {std::uint32_t(meeting.mask >> first), meeting.values + first};
}

/// The lane from which a shuffle takes its value, as PTX's shfl.sync with the operands b and c; a lane that would take
/// it from beyond its segment keeps its own, and is not valid.
struct ShuffleSource {
  unsigned lane;
  bool valid;
};
inline ShuffleSource source_of(device::Shuffle how, unsigned lane, unsigned by, unsigned control) {
  const unsigned segment = control >> 8 & 31, first = lane & segment, last = first | (control & 31 & ~segment);
  by &= 31;
  if (how == device::Shuffle::up) return by + last > lane ? ShuffleSource{lane, false} : ShuffleSource{lane - by, true};
  const unsigned source = how == device::Shuffle::down           ? lane + by
                          : how == device::Shuffle::exclusive_or ? lane ^ by
                                                                 : first | (by & ~segment);
  return source > last ? ShuffleSource{lane, false} : ShuffleSource{source, true};
}

}  // namespace bankwise::emulator
