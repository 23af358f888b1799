// Internal to bankcheck/fit: the parts of edits.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bankcheck/fit/edits.hpp"
#include "bankcheck/fit/expressions.hpp"
#include "bankcheck/fit/uses.hpp"

namespace bankwise::fit {

// --- Lines that edits add to a source, indented as their neighbours ---

/// The line of an offset: its first character, and the end before its line end.
std::size_t begin_of_line(std::string_view source, std::size_t at);
std::size_t end_of_line(std::string_view source, std::size_t at);

/// The line of an offset without what follows the blanks at its begin.
std::string_view indentation_at(std::string_view source, std::size_t at);

/// "\n", or "\r\n" if the source has some.
std::string_view line_end_of(std::string_view source);

/// A line after the statement that ends at an offset, indented as the line of another one.
Edit line_behind(std::string_view source, std::size_t at, std::size_t indented, const std::string& text);

/// A line before the statement that begins at an offset, or the text in its line if other code precedes it there.
Edit line_before(std::string_view source, std::size_t at, const std::string& text);

/// A line after the declaration; nothing if the text is empty.
std::optional<Edit> line_after(const source::SourceTokens& code, const Declaration& declaration,
                               const std::string& text);

// --- Lengths ---

/// The edits of all launches that give an array in dynamic shared memory its bytes, and must give it more.
EditsOrWhy launch_edits(const source::SourceTokens& code, const Declaration& declaration, const Change& change,
                        const ArrayShape& shape);

/// An assertion of the lengths that the changed indices are made for, which are macros, constants or template
/// parameters, and may become others; "" if they are numbers, or any lengths will do.
std::string required_lengths(const Declaration& declaration, const Change& change, const ArrayShape& shape,
                             IndexForm form);

/// The same for rows of an array whose indices have a pitch: its lengths have the values that they have now.
std::string required_pitch(const Declaration& declaration, const std::string& pitch);

// --- Indices ---

struct IndexedArray {
  const Declaration* declaration = nullptr;
  Uses uses;
};

/// The edits of all indices of arrays that have one layout, of the array with this number; the variables and the
/// function that all of them share are in the edits of each.
std::vector<Edit> index_edits(const Expressions& code, const std::vector<IndexedArray>& arrays, std::size_t number,
                              const Change& change, const ArrayShape& shape, IndexForm form);

// A base that is a variable of its own, `b` of `t[b + 1]`, can be changed once, `b += b >> 5`, not in each index.

/// A variable that only serves indices from a place on.
struct BaseVariable {
  std::string name;
  std::vector<std::size_t> uses;  ///< offsets of its names in the indices
  std::size_t place = 0;          ///< behind a statement, where another one can change it for all of these uses
};

/// Those of the variables at these offsets, the names of bases, that are declared in a block of a function, can be
/// changed, and hold an int at least. By the place.
std::vector<BaseVariable> base_variables(std::string_view source, const std::vector<std::size_t>& names);

/// The index with a pad of `more` elements after every `every`, if its variable has that pad already; nothing if the
/// rest would need a longer text.
std::optional<std::string> index_from_padded_base(const BasedIndex& index, std::uint64_t every, std::uint64_t more);

/// A variable for a changed index that several uses share, as one would declare it: "const int at = i + (i >> 5);".
struct IndexVariable {
  std::size_t at = 0;             ///< where the declaration goes: the begin of a statement, or of a pragma before it
  std::vector<std::size_t> uses;  ///< their numbers
};

/// For neighbouring uses with one index text, `texts`, that stand in one block, where no variable of the index changes
/// from the first to the last of them, and the index only computes. Two uses at least have one variable. Requires uses
/// in the source, in no macro.
std::vector<IndexVariable> index_variables(const Expressions& code, const std::vector<Use>& uses,
                                           const std::vector<std::string>& texts);

/// The name, with a number if the source has it already, or it is taken.
std::string free_name(const source::SourceTokens& code, const std::string& name,
                      const std::vector<std::string>& taken = {});

/// A function that computes a changed index: a lambda behind the declaration in C++, a function in OpenCL C.
struct IndexFunction {
  std::string name;
  Edit edit;  ///< that adds it
};

/// `uses`: where indices call it; `lambda`: its name if it is one. Nothing if there is no place for it, or one of them
/// would not see it.
std::optional<IndexFunction> index_function(const source::SourceTokens& code, const Declaration& declaration,
                                            const std::vector<std::size_t>& uses,
                                            const std::vector<std::string>& parameters, const std::string& formula,
                                            const std::string& lambda);

// --- Sums in a tree ---

/// Whether a statement combines two elements in a way that does not depend on their order. It has no blanks, and "A"
/// and "B" for the elements: "A+=B;", "A=max(A,B);", "if(A<B)A=B;". `type`: of the elements. A product is commutative
/// only for numbers, and nothing is for a class of the source. Of a call, the function must be one of the source that
/// returns a sum, a product, a minimum, ...; if the name is a variable, so must all call operators of two parameters.
bool is_commutative(const Expressions& code, const std::string& statement, std::string_view type);

}  // namespace bankwise::fit
