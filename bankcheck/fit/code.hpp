// A change as code: the new declaration of the array, the new index of an element, and the edits of the source that
// declares and uses the array.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "bankcheck/fit/change.hpp"

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

/// What the code of an array needs: from its declaration, or inferred from the accesses.
struct ArrayShape {
  std::uint64_t element = 4;           ///< bytes
  std::vector<std::uint64_t> lengths;  ///< elements in each dimension
  std::uint64_t row_bytes() const { return lengths.empty() ? 0 : lengths.back() * element; }
};

/// How a change is written down.
enum class IndexForm {
  none,      ///< there is nothing to write
  rows,      ///< longer rows in the declaration; indices stay as they are
  columns,   ///< the last index is changed, and possibly the rows are longer
  flat,      ///< one index, changed
  elements,  ///< longer elements: a member is added to the type
};

/// Nothing if no index and no declaration makes this change: it would tear elements apart.
std::optional<IndexForm> form_of(const Change& change, const ArrayShape& shape);

/// The index in brackets after the name, "[y][x ^ y]", from one text for each dimension.
std::string index_text(const Change& change, const ArrayShape& shape, IndexForm form,
                       const std::vector<std::string>& subscripts);

/// The dimensions in the declaration, as texts; `dimensions` are the old ones.
std::vector<std::string> dimension_texts(const Change& change, const ArrayShape& shape, IndexForm form,
                                         const std::vector<std::string>& dimensions);

/// Names for the subscripts of so many dimensions: "i"; "y", "x"; "z", "y", "x".
std::vector<std::string> subscript_names(std::size_t dimensions);

/// Replaces what lies between two offsets of a source.
struct Edit {
  std::size_t begin = 0, end = 0;
  std::string text;
  bool operator==(const Edit&) const = default;
};

/// The edits of one source, in order, or why there are none: a sentence without a dot. Every use of the array must have
/// all of its indices, and none that has a side effect where the index would be repeated; its address must not be taken
/// except for an atomic function.
std::variant<std::vector<Edit>, std::string> edits_of(std::string_view source, const Declaration& declaration,
                                                      const Change& change, const ArrayShape& shape);

std::string edited(std::string_view source, std::vector<Edit> edits);

/// Neighbouring lines that edits change.
struct Hunk {
  unsigned line = 0;          ///< of the first
  std::string before, after;  ///< whole lines, without the last end of a line
};
/// In the order of the lines.
std::vector<Hunk> hunks_of(std::string_view source, std::vector<Edit> edits);

}  // namespace bankwise::fit
