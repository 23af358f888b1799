// SPDX-License-Identifier: MIT
//
// The tokens of C++ and of OpenCL C, for programs that search and edit sources.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace bankwise::source {

enum class TokenKind { name, number, text, mark };

/// A token and its place in the source. Comments and preprocessor directives are no tokens. `text` is a string or
/// character literal, raw strings included. Every `<` and `>` is a separate token; other marks are single
/// characters, except "::" and "->".
struct Token {
  TokenKind kind;
  std::size_t begin, end;
};

/// Reads any text; what is no valid C++ becomes some tokens.
std::vector<Token> tokens_of(std::string_view source);

}  // namespace bankwise::source
