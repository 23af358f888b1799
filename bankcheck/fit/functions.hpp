// The functions of a source: their definitions, calls and launches.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "bankcheck/fit/declaration.hpp"
#include "bankcheck/fit/expressions.hpp"

namespace bankwise::fit {

/// The calls and definitions of a function.
struct FunctionPlaces {
  std::vector<std::size_t> calls;        ///< the names' tokens
  std::vector<std::size_t> definitions;  ///< the parentheses of their parameters
  bool is_template = false;

  /// The parenthesis of the only definition; 0: none, or several.
  std::size_t open() const { return definitions.size() == 1 ? definitions.front() : 0; }
};
FunctionPlaces places_of(const source::SourceTokens& code, std::string_view name);

/// The tokens of the block that an array is declared in, from behind its name; of a parameter, those to the end of its
/// function.
Part block_of(const source::SourceTokens& code, const Declaration& declaration);

/// The bracket that opens the outermost function body around the declaration; 0 if there is none.
std::size_t body_around(const source::SourceTokens& code, const Declaration& declaration);

/// Whether two arrays are declared in one block of a function, with the same text for their lengths.
bool are_side_by_side(const source::SourceTokens& code, const Declaration& a, const Declaration& b);

/// What a call passes; nothing if the name at the token is not called there.
std::vector<Part> arguments_of_call(const Expressions& code, std::size_t name);

/// An argument in a call, or a parameter of a definition: the token of the function's name, and its number from 0.
struct ArgumentPlace {
  std::size_t function = 0, number = 0;
};

/// The call that a token is an argument of.
ArgumentPlace argument_at(const source::SourceTokens& code, std::size_t i);

/// The token of a parameter's name; nothing if it has none, or a declarator that follows it.
std::optional<std::size_t> name_of_parameter(const source::SourceTokens& code, Part parameter);

/// The parameter that a name is, in a function which is no kernel.
std::optional<ArgumentPlace> parameter_at(const Expressions& code, std::size_t name);

/// The expression for the bytes of dynamic shared memory in the launch of the kernel whose name is at a token.
std::optional<Extract> dynamic_bytes_at(const Expressions& code, std::size_t name);

/// The first line that launches a kernel which the source does not define; 0 if there is none.
std::size_t line_of_launch(std::string_view source, std::string_view kernel);

}  // namespace bankwise::fit
