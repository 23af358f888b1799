// SPDX-License-Identifier: MIT
#include <algorithm>

#include "bankcheck/emulate/rewrite.hpp"
#include "bankcheck/source/tokens.hpp"

namespace bankwise::emulate {
namespace {

using Tokens = std::vector<source::Token>;

/// The statement's tokens between its parentheses.
struct Statement {
  std::string_view text;
  Tokens tokens;

  std::string_view at(std::size_t i) const { return text.substr(tokens[i].begin, tokens[i].end - tokens[i].begin); }
  std::string_view between(std::size_t begin, std::size_t end) const {
    return begin == end ? "" : text.substr(tokens[begin].begin, tokens[end - 1].end - tokens[begin].begin);
  }
};

using Range = std::pair<std::size_t, std::size_t>;  // of tokens

/// Splits at a mark outside of brackets. "::" is two colons, unless it is part of a name.
std::vector<Range> split(const Statement& statement, Range list, std::string_view mark) {
  std::vector<Range> parts{{list.first, list.first}};
  int depth = 0;
  for (std::size_t i = list.first; i < list.second; ++i) {
    const std::string_view token = statement.at(i);
    depth += int(token == "(" || token == "[" || token == "{") - int(token == ")" || token == "]" || token == "}");
    const bool is_two = mark == ":" && token == "::";
    if (depth != 0 || !(token == mark || is_two)) continue;
    parts.back().second = i;
    if (is_two) parts.emplace_back(i, i);
    parts.emplace_back(i + 1, i + 1);
  }
  parts.back().second = list.second;
  return parts;
}

/// `"=r"(x)` as a call; nothing if it is no operand of PTX.
std::optional<std::string> operand(const Statement& statement, Range tokens, bool is_output) {
  if (tokens.second - tokens.first < 3) return std::nullopt;
  std::string_view constraint = statement.at(tokens.first);
  const std::string_view value = statement.between(tokens.first + 1, tokens.second);
  if (constraint.front() != '"' || value.front() != '(' || value.back() != ')') return std::nullopt;
  constraint = constraint.substr(1, constraint.size() - 2);
  const bool both = constraint.starts_with('+'), out = constraint.starts_with('=');
  const std::string_view letter = constraint.substr(both || out ? 1 : 0);
  if (letter.size() != 1 || std::string_view("hrlqfdnb").find(letter) == std::string_view::npos) return std::nullopt;
  if ((both || out) != is_output) return std::nullopt;
  const char* function = both ? "ptx_in_out" : out ? "ptx_out" : "ptx_in";
  return "::bankwise::emulator::device::" + std::string(function) + std::string(value);
}

}  // namespace

std::optional<std::string> emulated_asm(std::string_view statement) {
  const Statement asm_statement{statement, source::tokens_of(statement)};
  const Tokens& tokens = asm_statement.tokens;
  const auto open =
      std::size_t(std::find_if(tokens.begin(), tokens.end(),
                               [&](const source::Token& token) { return statement[token.begin] == '('; }) -
                  tokens.begin());
  if (open + 1 >= tokens.size() || statement.back() != ')') return std::nullopt;
  const std::vector<Range> sections = split(asm_statement, {open + 1, tokens.size() - 1}, ":");
  const std::string_view text = asm_statement.between(sections[0].first, sections[0].second);
  // A statement of PTX ends in a semicolon.
  if (text.find(';') == std::string_view::npos || (text[0] != '"' && text[0] != 'R')) return std::nullopt;
  const bool is_volatile = statement.substr(0, tokens[open].begin).find("volatile") != std::string_view::npos;
  std::string call = std::string("::bankwise::emulator::device::ptx") + (is_volatile ? "<true>" : "") +
                     "([] { return " + std::string(text) + "; }";
  for (std::size_t section = 1; section < sections.size() && section < 3; ++section) {
    if (sections[section].first == sections[section].second) continue;
    for (const Range& part : split(asm_statement, sections[section], ",")) {
      const auto emulated = operand(asm_statement, part, section == 1);
      if (!emulated) return std::nullopt;
      call += ", " + *emulated;
    }
  }
  call += ')';
  // What the call lacks of the statement's lines follows it.
  const auto lines = [](std::string_view some) { return std::count(some.begin(), some.end(), '\n'); };
  call.append(std::size_t(std::max<std::ptrdiff_t>(0, lines(statement) - lines(call))), '\n');
  return call;
}

}  // namespace bankwise::emulate
