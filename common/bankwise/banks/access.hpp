#pragma once

#include <bit>
#include <cstdint>
#include <span>

#include <bankwise/banks/operation.hpp>

namespace bankwise::banks {

/// The most lanes that any warp (wavefront, sub-group) has.
inline constexpr unsigned max_lanes = 64;

/// Calls `visit(lane)` for each lane of the mask, in order.
template <class Visit>
void for_each_lane(std::uint64_t mask, Visit visit) {
  for (; mask != 0; mask &= mask - 1) visit(unsigned(std::countr_zero(mask)));
}

/// In Access::sources: the lane of a copy reads nothing and writes zeros.
inline constexpr std::uint32_t no_source = 0xffffffff;

/// One shared-memory instruction of one warp.
struct Access {
  Operation operation = Operation::load;
  unsigned width = 4;      ///< bytes per lane: 1, 2, 4, 8, 12 or 16; 16, a row, for matrix operations
  std::uint64_t mask = 0;  ///< active lanes, bit l = lane l
  /// Byte offset of each lane from the start of shared memory, a multiple of the width (of 4 for 12 bytes). Entries of
  /// inactive lanes are ignored, and entries past the last active lane may be missing.
  std::span<const std::uint32_t> addresses;
  /// For copies: the byte address in global memory that each lane reads, modulo any multiple of 128 bytes that keeps
  /// different cache lines of 128 bytes different; bits below the width do not matter. `no_source`: the lane writes
  /// zeros. As for `addresses`, entries of inactive lanes are ignored. Empty: unknown.
  std::span<const std::uint32_t> sources{};
};

}  // namespace bankwise::banks
