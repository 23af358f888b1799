// The declaration of an array in shared memory, in the source of its kernel.
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
  std::string unknown;                   ///< why they are empty: "TILE is not known"
  std::uint64_t element = 0;             ///< bytes of an element; 0: not known
  std::vector<Extract> dimension_texts;  ///< each dimension in the source, without its brackets
  std::size_t at = 0;                    ///< the name's position in the source
  unsigned line = 0;
};

/// The last declaration of an array of this name that one of the lines sees: `lines` use the array, and are empty if
/// they are not known. `bytes` of the array, 0 if they are not known, and `options`, for example "-D TILE=32", help to
/// find lengths. A name that is not declared ("dynamic shared memory") finds the only array without a length.
std::optional<Declaration> find_declaration(std::string_view source, std::string_view name,
                                            const std::vector<unsigned>& lines, std::uint64_t bytes,
                                            std::string_view options);

}  // namespace bankwise::fit
