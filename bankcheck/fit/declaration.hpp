// SPDX-License-Identifier: MIT
//
// The declaration of an array in shared memory (OpenCL: local memory), found in a source.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bankwise::fit {

/// Offsets into the source; `end` is past the last character.
struct Extract {
  std::size_t begin = 0, end = 0;
};

struct Declaration {
  std::string qualifier;                 ///< "__shared__", "local"
  std::string type, name;                ///< "float", "tile"
  std::vector<std::string> dimensions;   ///< as written: {"TILE", "TILE + 1"}; {""} for extern arrays
  std::vector<std::uint64_t> lengths;    ///< their values; empty if one is not known
  std::uint64_t element = 0;             ///< bytes of an element; 0: not known
  std::vector<Extract> dimension_texts;  ///< each dimension in the source, without its brackets
  std::size_t at = 0;                    ///< the name's position in the source
  unsigned line = 0;
};

/// The last declaration of an array of this name that begins at or before the line. `bytes` of the array, 0 if they are
/// not known, and `options`, for example "-D TILE=32", help to find lengths. A name that is not declared
/// ("dynamic shared memory") finds the only array that is declared without a length.
std::optional<Declaration> find_declaration(std::string_view source, std::string_view name, unsigned last_line,
                                            std::uint64_t bytes, std::string_view options);

}  // namespace bankwise::fit
