// Internal to bankcheck/fit: the parts of declaration.hpp.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "bankcheck/fit/declaration.hpp"
#include "bankcheck/fit/source_constants.hpp"

namespace bankwise::fit {

// --- The places of a source that declare arrays in shared memory ---

/// The words that put an array into shared memory.
using Qualifiers = std::set<std::string, std::less<>>;

/// A function or class with template parameters.
struct Template {
  std::string name;
  std::vector<std::string> parameters;
};

/// Where an array may be declared, with the end of its block.
struct Candidate {
  Declaration declaration;
  std::vector<Template> templates;  // around it
  std::size_t block = 0;            // the number of the block that it is declared in
  unsigned last_line = ~0U;
  std::string function;         // around it; "" if there is none
  std::size_t function_at = 0;  // the token of its bracket
};

/// Those of one name; without a name, those without lengths.
std::vector<Candidate> declarations_in(std::string_view source, const Qualifiers& qualifiers, std::string_view name);

// --- What a source and its macros do with an array without a use of its name ---

/// The macros whose text names the array, if the array's block uses them, directly or through other macros. A name that
/// is a parameter of the macro, a member, or a variable that the macro declares, is another one.
std::vector<ArrayMacro> macros_naming(const Declaration& declaration, std::string_view source,
                                      const std::vector<std::string_view>& headers);

/// The macros that stand for more than one token, and not for parentheses.
std::vector<std::string> sums_of(std::string_view source, const std::vector<std::string_view>& headers);

/// The macros with parameters that only compute a value.
std::vector<std::string> pure_macros_of(const std::vector<std::string_view>& headers);

/// The given lines in the array's block whose statements may use the array without its name, in order. A statement does
/// not if all of its names are declared or constants: compilers give some accesses the line of a loop, or of a
/// neighbouring statement.
std::vector<unsigned> hidden_lines_of(const Declaration& declaration, unsigned last_line, std::string_view source,
                                      const std::vector<unsigned>& lines, const SourceConstants& constants);

// --- Indices ---

/// Finds rows in an array that is declared with one dimension: tile[y * 16 + x]. Sets Declaration::pitch and
/// row_indices, if every index of the array is row * pitch + column, and the column is certainly at least 0 and less
/// than the pitch. That is computed from the loops and conditions around the index, and from the sizes of blocks.
void find_flat_rows(Declaration& declaration, std::string_view source, const SourceConstants& constants,
                    const SoughtArray& array);

/// Sets Declaration::based_indices and constant_indices. `of_source`: the constants without template arguments;
/// `block`: the largest block of all launches of OpenCL; 0: not known.
void find_based_indices(Declaration& declaration, std::string_view source, const SourceConstants& constants,
                        const SourceConstants& of_source, const std::array<std::uint64_t, 3>& block);

}  // namespace bankwise::fit
