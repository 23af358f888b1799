// The functions of a source: their definitions, calls and launches.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "bankcheck/fit/declaration.hpp"
#include "bankcheck/fit/expressions.hpp"

namespace bankwise::fit {

/// The calls of a function, and its only definition.
struct FunctionPlaces {
  std::vector<std::size_t> calls;  ///< the names' tokens
  std::size_t open = 0;            ///< the parenthesis of the definition's parameters; 0: none, or several
  std::size_t definitions = 0;
  bool is_template = false;
};
FunctionPlaces places_of(const source::SourceTokens& code, std::string_view name);

/// What a call passes; nothing if the name at the token is not called there.
std::vector<Part> arguments_of_call(const source::SourceTokens& code, std::size_t name);

/// An argument in a call, or a parameter of a definition: the token of the function's name, and its number from 0.
struct ArgumentPlace {
  std::size_t function = 0, number = 0;
};

/// The call whose argument begins at a token.
ArgumentPlace argument_at(const source::SourceTokens& code, std::size_t i);

/// The parameter that a name is, in a function which is no kernel.
std::optional<ArgumentPlace> parameter_at(const source::SourceTokens& code, std::size_t name);

/// The expression for the bytes of dynamic shared memory in the launch of the kernel whose name is at a token.
std::optional<Extract> dynamic_bytes_at(const source::SourceTokens& code, std::size_t name);

/// The first line that launches a kernel which the source does not define; 0 if there is none.
std::size_t line_of_launch(std::string_view source, std::string_view kernel);

}  // namespace bankwise::fit
