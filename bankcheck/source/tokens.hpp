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

/// A source with its tokens, by number. Past the end are empty ones.
struct SourceTokens {
  explicit SourceTokens(std::string_view text_of_source) : source(text_of_source), tokens(tokens_of(source)) {}

  std::string_view text(std::size_t i) const {
    return i < tokens.size() ? source.substr(tokens[i].begin, tokens[i].end - tokens[i].begin) : "";
  }
  bool is(std::size_t i, std::string_view word) const { return text(i) == word; }
  /// The first token that begins at an offset or behind it.
  std::size_t at_offset(std::size_t offset) const;
  bool is_name(std::size_t i) const { return i < tokens.size() && tokens[i].kind == TokenKind::name; }
  /// The square bracket that closes the one at `open`; the number of tokens if none does.
  std::size_t closing(std::size_t open) const;
  /// Past the bracket of any kind that closes the one at `open`; the number of tokens if none does.
  std::size_t past_bracket(std::size_t open) const;
  /// The parenthesis that opens what the one at `close` closes; 0 if none does.
  std::size_t opening(std::size_t close) const;
  /// The { of the outermost function around a token: behind its parameters; 0 outside of functions.
  std::size_t function_body(std::size_t token) const;
  /// The first of the three < of a launch, past template arguments, if a kernel's name is at a token; 0 if none is.
  std::size_t launch_behind(std::size_t name) const;
  /// The line of a token, from 1.
  std::size_t line(std::size_t i) const;

  /// The names that a declaration gives to its variables, from one of its specifiers on.
  std::vector<std::string_view> declared(std::size_t first) const;

  /// Whether a name stands before brackets that belong to a declaration's type: `alignas(16)`, `struct Pair {`.
  bool is_head(std::size_t i) const;

  std::string_view source;
  std::vector<Token> tokens;
};

/// The text without surrounding blanks.
std::string_view trimmed(std::string_view text);

}  // namespace bankwise::source
