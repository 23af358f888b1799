// The declaration of an array in shared memory, in the source of its kernel.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "bankcheck/fit/source_constants.hpp"

namespace bankwise::fit {

/// Offsets into the source; `end` is past the last character.
struct Extract {
  std::size_t begin = 0, end = 0;
  bool operator==(const Extract&) const = default;
};

/// Where an index names its pitch, alone or as some factors of a product with the row: `2 * y * blockDim.x`.
struct PitchPlace : Extract {
  std::string row;   ///< "": alone
  std::string text;  ///< of the pitch: "2 * blockDim.x"
  bool operator==(const PitchPlace&) const = default;
};

/// An index that stands for a row and a column: row * pitch + column.
struct RowIndex {
  std::size_t begin = 0, end = 0;  ///< of the index in the source, without its brackets
  std::string row, column;
  std::vector<PitchPlace> pitches;  ///< also in the definition of a variable that only serves indices of the array
  /// Rows whose pitch stands elsewhere: "y" of `at`, for `const int at = y * TILE + x`, which serves others, too; and
  /// that pitch.
  std::string other_row, other_pitch;
  bool operator==(const RowIndex&) const = default;
};

/// An index as a base and a rest, whose bits no value of the base has: `b | i`, `2 * i + 1`. What a change adds for the
/// number of the base's block is right for both.
struct BasedIndex {
  std::size_t at = 0;                   ///< of the bracket before the index, in the source
  std::string base, rest;               ///< rest "": the index is the base
  std::uint64_t rest_bits = 0;          ///< that it may have
  std::optional<std::size_t> variable;  ///< where the base is, if it is the name of a variable
  bool operator==(const BasedIndex&) const = default;
};

/// An index that has one value wherever it is.
struct ConstantIndex {
  std::size_t at = 0;  ///< of the bracket before the index, in the source
  std::uint64_t value = 0;
  bool operator==(const ConstantIndex&) const = default;
};

/// A macro whose text names an array.
struct ArrayMacro {
  std::string name;
  unsigned line = 0;  ///< 0: in a header
  std::string text;   ///< without its parameters
};

struct Declaration {
  std::string qualifier;                ///< "__shared__", "local"
  std::string type, name;               ///< "float", "tile"
  std::vector<std::string> dimensions;  ///< as written: {"TILE", "TILE + 1"}; {""} if the launch gives the bytes
  std::vector<std::uint64_t> lengths;   ///< their values; empty if one is not known
  /// Of the last dimension, if it is a sum: the text before the +, and the value.
  struct Unpadded {
    std::string text;
    std::uint64_t value = 0;  ///< 0: not known
  };
  Unpadded unpadded;
  std::string unknown;                   ///< why they are empty: "TILE is not known"
  std::uint64_t element = 0;             ///< bytes of an element; 0: not known
  std::vector<Extract> dimension_texts;  ///< each dimension in the source, without its brackets
  std::size_t at = 0;                    ///< the name's position in the source
  unsigned line = 0;
  bool is_parameter = false;             ///< of an OpenCL kernel
  std::vector<std::string> parameters;   ///< the template parameters that the dimensions depend on
  std::vector<std::string> sums;         ///< macros that stand for more than one token, and need parentheses
  std::vector<std::string> pure_macros;  ///< macros of headers that only compute a value
  std::vector<unsigned> hidden_lines;    ///< lines that may use the array without its name
  std::vector<ArrayMacro> macros;        ///< those that its block uses
  /// The other arrays that the same macro names, or that the same functions get, by where they are declared.
  struct Tie {
    std::size_t at = 0;
    bool by_macro = false;
  };
  std::vector<Tie> tied;
  std::string other_memory;  ///< why not all that its functions get is in shared memory: a sentence; "": all is
  std::string function;      ///< the outermost one around it; "": none
  std::string launched_in;   ///< another file that launches this function, and the line; "": none
  std::uint64_t pitch = 0;   ///< of an array of one dimension whose indices all have rows: elements of a row; 0: not
  std::vector<RowIndex> row_indices;            ///< all of them
  std::string length_pitch;                     ///< the last factors of its length, if they are the pitch: "TILE * 2"
  std::vector<BasedIndex> based_indices;        ///< of an array of one dimension: all of them, as far as they are known
  std::vector<ConstantIndex> constant_indices;  ///< of an array of one dimension: those that are no numbers, but known
};

/// What is known of an array besides its source.
struct SoughtArray {
  std::string_view name;               ///< "tile", "k<32>::tile"; with a blank, as in "dynamic shared memory": no name
  std::vector<unsigned> lines;         ///< that use it; empty: not known
  std::uint64_t bytes = 0;             ///< 0: not known
  std::uint64_t element = 0;           ///< bytes, as compiled; 0: not known
  std::vector<std::uint64_t> lengths;  ///< as compiled; empty: not known
  std::string_view options;            ///< of the build: "-D TILE=32"
  std::string_view kernel;             ///< with its template arguments: "transpose<float, 32>"
  std::vector<std::string_view> headers;      ///< the texts that the source includes
  std::array<std::uint64_t, 3> block{};       ///< the largest block of threads; 0: not known
  std::array<std::uint64_t, 3> only_block{};  ///< of all launches; 0: not known, or they differ
};

/// The last declaration of an array of this name that one of the lines sees. Without a name: the only array whose bytes
/// the launch gives. Lengths that are not known as compiled come from the constants of the source, its headers, the
/// options and the kernel's template arguments, and must give the bytes.
std::optional<Declaration> find_declaration(std::string_view source, const SoughtArray& array);

/// Parentheses around a text that is a macro, with or without arguments, which stands for a sum.
std::string with_parentheses(const Declaration& declaration, const std::string& text);

// Internal to bankcheck/fit: the parts of find_declaration().

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
