// SPDX-License-Identifier: MIT
//
// Itanium C++ ABI, section 5.1. Template arguments are skipped by counting what opens and closes them, which needs to
// know identifiers (with their length in front), references (S..._ and T..._) and literals.
#include "bankcheck/cuda/cubin/demangled.hpp"

#include <cctype>
#include <string>

namespace bankwise::cuda {

namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  bool at_end() const { return text_.empty(); }
  char peek() const { return text_.empty() ? '\0' : text_.front(); }
  bool accept(std::string_view word) {
    if (!text_.starts_with(word)) return false;
    text_.remove_prefix(word.size());
    return true;
  }

  /// A length and as many characters; nothing if there are fewer.
  std::optional<std::string_view> identifier() {
    std::size_t length = 0;
    while (is_digit(peek())) {
      length = length * 10 + std::size_t(peek() - '0');
      text_.remove_prefix(1);
      if (length > text_.size()) return {};
    }
    const std::string_view name = text_.substr(0, length);
    text_.remove_prefix(length);
    return name;
  }

  // Recursion: at most max_nested_literals deep.
  /// Everything up to the E of the list whose I was just read; whether there is one.
  bool skip_arguments() {
    for (std::size_t open = 1; open > 0;) {
      if (at_end()) return false;
      if (is_digit(peek())) {
        if (!identifier()) return false;
        continue;
      }
      const char c = peek();
      text_.remove_prefix(1);
      switch (c) {
        case 'E':
          --open;
          break;
        case 'I':
        case 'J':
        case 'N':
        case 'X':
        case 'F':
        case 'Z':
          ++open;
          break;
        case 'L':
          ++open;
          if (!skip_literal()) return false;
          break;
        case 'S':
        case 'T':
          skip_reference();
          break;
        case 'A':
        case 'D':
        case 'U':
          if (!skip_prefix(c, open)) return false;
          break;
        default:
          break;  // built-in types and qualifiers, which open nothing
      }
    }
    return true;
  }

 private:
  /// L has been read: a literal up to its E, which stays: its type, then its value, of which digits are no identifier;
  /// or the name of a function.
  bool skip_literal() {
    if (accept("_Z")) return true;
    if (++nested_literals_ > max_nested_literals) return false;
    bool named = true;
    if (accept("N")) {
      named = skip_arguments();  // up to the E of the nested name
    } else if (is_digit(peek()) || accept("St")) {
      named = identifier().has_value();
    } else if (accept("S") || accept("T")) {
      skip_reference();
    }
    if (named && accept("I")) named = skip_arguments();
    --nested_literals_;
    while (!at_end() && peek() != 'E') text_.remove_prefix(1);
    return named;
  }
  /// S or T has been read: "St", or digits and capitals up to an underscore.
  void skip_reference() {
    if (std::islower(static_cast<unsigned char>(peek())) != 0) {
      text_.remove_prefix(1);
    } else {
      while (!at_end() && peek() != '_') text_.remove_prefix(1);
      accept("_");
    }
  }
  /// A, D or U has been read: arrays, decltype and the like, lambdas.
  bool skip_prefix(char c, std::size_t& open) {
    if (c == 'A') {
      while (is_digit(peek())) text_.remove_prefix(1);
      return accept("_");
    }
    if (c == 'U') {
      if (accept("t")) return true;
      if (!accept("l")) return false;
      ++open;  // parameters of a lambda up to E, then a number and an underscore
      return true;
    }
    const char kind = peek();
    accept(std::string_view(&kind, 1));
    if (kind == 'T' || kind == 't') ++open;
    return kind != 'v';  // vectors
  }

  static constexpr unsigned max_nested_literals = 64;  // each takes some of the stack

  std::string_view text_;
  unsigned nested_literals_ = 0;
};

}  // namespace

std::optional<std::string> mangled_path(std::string_view mangled) {
  Reader reader(mangled);
  if (!reader.accept("_Z")) return {};
  const bool is_nested = reader.accept("N");
  std::string path;
  if (reader.accept("St")) path = "std";
  while (is_digit(reader.peek()) || reader.accept("L")) {
    const auto name = reader.identifier();
    if (!name || name->empty()) return {};
    if (!name->starts_with("_GLOBAL__N_")) {  // an anonymous namespace
      if (!path.empty()) path += "::";
      path += *name;
    }
    if (reader.accept("I")) {
      if (!reader.skip_arguments()) return {};
      path += "<...>";
    }
    if (!is_nested) return path;
  }
  if (path.empty() || !reader.accept("E")) return {};
  return path;
}

}  // namespace bankwise::cuda
