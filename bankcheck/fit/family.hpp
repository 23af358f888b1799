// SPDX-License-Identifier: MIT
//
// The changes that are tried for an array. The family is finite and stated, so "none is better" has a meaning.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bankcheck/fit/change.hpp"

namespace bankwise::fit {

/// What the changes of an array must respect.
struct FamilyBounds {
  std::uint64_t extent = 0;            ///< bytes of the array, or as far as its accesses reach
  std::uint32_t granule = 4;           ///< bytes that stay together: those of the widest access, at least 4
  std::uint32_t alignment = 4;         ///< of that access: the granule, or 4 for 12 bytes
  std::uint32_t period = 128;          ///< bytes after which the banks repeat
  std::vector<std::uint32_t> strides;  ///< lengths to try besides powers of two: multiples of the granule
  bool copied_in = false;              ///< filled by TMA, which knows three swizzles and no pad
  bool fixed = false;                  ///< filled by something that knows no layout but the identity
};

/// The identity first, then changes with one parameter group, then those with two; each part by kind and by bytes.
struct Family {
  std::vector<Change> singles;       ///< identity, row XORs, pads
  std::vector<Change> combinations;  ///< two pads, a pad and an XOR
  std::size_t size() const { return singles.size() + combinations.size(); }
};

Family family(const FamilyBounds& bounds);

/// The three swizzles of TMA, by bytes: 32, 64 and 128.
std::vector<Change> tma_swizzles();
/// "CU_TENSOR_MAP_SWIZZLE_128B"; "" if the change is none of them.
std::string tma_name(const Change& change);

}  // namespace bankwise::fit
