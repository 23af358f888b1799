// SPDX-License-Identifier: MIT
//
// A change as edits of the source that declares and uses the array.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "bankcheck/fit/code.hpp"

namespace bankwise::fit {

/// Replaces what lies between two offsets of a source.
struct Edit {
  std::size_t begin = 0, end = 0;
  std::string text;
};

/// The edits of one source, in order, or why there are none: a sentence without a dot. Every use of the array must have
/// all of its indices, and none that has a side effect where the index would be repeated; its address must not be taken
/// except for an atomic function.
std::variant<std::vector<Edit>, std::string> edits_of(std::string_view source, const Declaration& declaration,
                                                      const Change& change, const ArrayShape& shape);

std::string edited(std::string_view source, std::vector<Edit> edits);

}  // namespace bankwise::fit
