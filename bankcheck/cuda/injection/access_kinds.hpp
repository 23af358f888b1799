// SPDX-License-Identifier: MIT
//
// Which instructions are patched with which function, and what their accesses are called in the record.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "bankcheck/cuda/injection/device_table.hpp"

namespace bankwise::cuda {

struct PatchPoint {
  int instruction;        ///< Sanitizer_InstructionId
  const char* function;   ///< in patch.cu
  std::string_view what;  ///< for people
  bool required;          ///< the others are unknown to older versions of the library, or on older GPUs
};

std::span<const PatchPoint> patch_points();

/// The `kind` of a pattern, from PatternEntry::what.
std::string_view kind_of_access(std::uint32_t what);

/// The `what` of a bulk record; empty if it is a pattern.
std::string_view name_of_bulk(std::uint32_t what);

}  // namespace bankwise::cuda
