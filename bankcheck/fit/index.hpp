// A change as code: the new declaration of the array, the new index of an element, and what that index costs.
#pragma once

#include <cstdint>
#include <functional>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "bankcheck/fit/change.hpp"

namespace bankwise::fit {

/// Of a trace of machine code: what a compiler may do otherwise with another index.
struct CompiledLoads {
  /// The lanes load the same elements as these accesses do.
  struct Place {
    std::uint32_t site = 0;
    bool by_store = false;
    auto operator<=>(const Place&) const = default;
  };
  std::vector<Place> saved;  ///< loads of the source that the machine code need not make, sorted: saved_loads()
  bool complete = false;     ///< else there may be more
};

/// What the code of an array needs: from its declaration, or inferred from the accesses.
struct ArrayShape {
  std::uint64_t element = 4;           ///< bytes
  std::vector<std::uint64_t> lengths;  ///< elements in each dimension
  /// Of a trace of machine code: the source accesses one element at a time, and the compiler has merged the wider ones.
  bool merges = false;
  std::optional<CompiledLoads> compiled;  ///< nothing: the trace is not of machine code
  std::uint64_t elements() const {
    return std::accumulate(lengths.begin(), lengths.end(), std::uint64_t{1}, std::multiplies<>());
  }
  std::uint64_t row_bytes() const { return lengths.empty() ? 0 : lengths.back() * element; }
};

/// How a change is written down.
enum class IndexForm {
  none,      ///< there is nothing to write
  rows,      ///< longer rows in the declaration; indices stay as they are
  columns,   ///< the last index is changed, and possibly the rows are longer
  order,     ///< the last index but one is changed: rows change places
  flat,      ///< one index, changed
  elements,  ///< longer elements: a member is added to the type
};

/// Nothing if no index and no declaration makes this change: it would tear elements apart.
std::optional<IndexForm> form_of(const Change& change, const ArrayShape& shape);

/// Whether the change stays within the rows of an array of two or more dimensions: the last index alone gives its new
/// value, "[y][x ^ ((x >> 3) & 4)]".
bool stays_in_rows(const Change& change, const ArrayShape& shape);

/// The number of the only index that the form changes: "x" of "[y][x]", or "y" in another order of the rows; 0 if it
/// makes one of all.
std::size_t changed_dimension(IndexForm form, std::size_t dimensions);

/// Whether one length of the declaration changes, and no index: "[N][N + 1]", as most people pad, or "[N][N - 1]".
bool is_plain_pad(const Change& change, const ArrayShape& shape);

/// Whether an index is divided by a number that is no power of two.
bool divides_index(const Change& change, const ArrayShape& shape);

/// Whether a text is a decimal number of at most nine digits.
bool is_number(const std::string& text);

/// Whether one of the marks is in a text, outside of all brackets.
bool has_outside_brackets(std::string_view text, std::string_view marks);

/// Whether a text is a product of single tokens, or one: "TILE", "2 * N".
bool is_product(const std::string& text);

/// A text as an operand of +, in parentheses if it needs them.
std::string as_summand(const std::string& text);

/// The changed indices from one text for each dimension: "y" and "x ^ y", or one of all.
std::vector<std::string> changed_subscripts(const Change& change, const ArrayShape& shape, IndexForm form,
                                            const std::vector<std::string>& subscripts);

/// Indices as they follow the name: "[y][x ^ y]".
std::string in_brackets(const std::vector<std::string>& subscripts);
inline std::string index_text(const Change& change, const ArrayShape& shape, IndexForm form,
                              const std::vector<std::string>& subscripts) {
  return in_brackets(changed_subscripts(change, shape, form, subscripts));
}

/// How much there is to read in the changed index, beyond the one as declared: its operators, and one more for a mask
/// such as 14, which is no number of elements less one. Requires a change that form_of() knows.
unsigned index_operators(const Change& change, const ArrayShape& shape);

/// Of an XOR of one index, under a mask, into the last one: rows of whole blocks of so many elements will do, however
/// many there are. 0: the index is right for the lengths of the shape only.
std::uint64_t block_of_masked(const Change& change, const ArrayShape& shape);

/// Of another order of the rows: any number of whole blocks of so many rows will do. 0: the rows keep their order.
std::uint64_t block_of_rows(const Change& change, const ArrayShape& shape);

/// The lengths of the dimensions that make a change's new rows and pads; nothing if no lengths do.
std::optional<std::vector<std::uint64_t>> lengths_after(const Change& change, const ArrayShape& shape);

/// The dimensions in the declaration, as texts; `dimensions` are the old ones.
std::vector<std::string> dimension_texts(const Change& change, const ArrayShape& shape, IndexForm form,
                                         const std::vector<std::string>& dimensions);

/// The same for an array that is declared with one dimension, but whose shape has rows: "[y * (TILE + 1) + x]".
/// `pitch`: the elements of a row, as the source writes them.
std::string row_index_text(const Change& change, const ArrayShape& shape, const std::string& row,
                           const std::string& column, const std::string& pitch);
/// The new pitch, as an operand of a product: "(TILE + 1)".
std::string pitch_text(const Change& change, const ArrayShape& shape, const std::string& pitch);
/// The new length of such an array: "TILE * (TILE + 1)". `pitch`: as in its indices.
std::string rows_text(const Change& change, const ArrayShape& shape, const std::string& length,
                      const std::string& pitch);

/// Names for the subscripts of so many dimensions: "i"; "y", "x"; "z", "y", "x".
std::vector<std::string> subscript_names(std::size_t dimensions);

/// The integer instructions that the changed index adds to each access, beyond those that compute the address of the
/// element as declared. A constant pitch costs no more than another one, so longer and shorter rows add none.
///
/// Checked against nvcc 13.0 for sm_90 (tests/bankcheck/fit/test_prices.cpp), where all indices are unsigned variables.
/// A compiler may do with fewer, where an index is a constant or is used again, and may need one more where it folds
/// the constant part of a plain index into the address. Requires a change that form_of() knows.
unsigned index_instructions(const Change& change, const ArrayShape& shape);

}  // namespace bankwise::fit
