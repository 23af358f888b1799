// SPDX-License-Identifier: MIT
//
// A change as code: the new declaration of the array, and the new index of an element.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bankcheck/fit/change.hpp"
#include "bankcheck/fit/declaration.hpp"

namespace bankwise::fit {

/// What the code of an array needs: from its declaration, or inferred from the accesses.
struct ArrayShape {
  std::uint64_t element = 4;           ///< bytes
  std::vector<std::uint64_t> lengths;  ///< elements in each dimension
  std::uint64_t row_bytes() const { return lengths.empty() ? 0 : lengths.back() * element; }
};

/// How a change is written down.
enum class Form {
  none,      ///< there is nothing to write
  rows,      ///< longer rows in the declaration; indices stay as they are
  columns,   ///< the last index is changed, and possibly the rows are longer
  flat,      ///< one index, changed
  elements,  ///< longer elements: a member is added to the type
};

/// Nothing if no index and no declaration makes this change: it would tear elements apart.
std::optional<Form> form_of(const Change& change, const ArrayShape& shape);

/// The index in brackets after the name, "[y][x ^ y]", from one text for each dimension.
std::string index_text(const Change& change, const ArrayShape& shape, Form form,
                       const std::vector<std::string>& subscripts);

/// The dimensions in the declaration, as texts; `dimensions` are the old ones.
std::vector<std::string> dimension_texts(const Change& change, const ArrayShape& shape, Form form,
                                         const std::vector<std::string>& dimensions);

/// Names for the subscripts of so many dimensions: "i"; "y", "x"; "z", "y", "x".
std::vector<std::string> subscript_names(std::size_t dimensions);

}  // namespace bankwise::fit
