// SPDX-License-Identifier: MIT
#include "bankcheck/emulate/rewrite.hpp"

#include <algorithm>
#include <vector>

namespace bankwise::emulate {
namespace {

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

/// The end of a string or character literal, or of a comment, that begins at `at`; `at` if there is none.
std::size_t end_of_text(std::string_view source, std::size_t at) {
  const char quote = source[at];
  if (quote == '"' || quote == '\'') {
    for (std::size_t i = at + 1; i < source.size(); ++i) {
      if (source[i] == '\\')
        ++i;
      else if (source[i] == quote)
        return i + 1;
    }
    return source.size();
  }
  if (source.substr(at, 3) == "R\"(") {
    const auto end = source.find(")\"", at);
    return end == std::string_view::npos ? source.size() : end + 2;
  }
  if (source.substr(at, 2) == "//") return std::min(source.find('\n', at), source.size());
  if (source.substr(at, 2) == "/*") {
    const auto end = source.find("*/", at + 2);
    return end == std::string_view::npos ? source.size() : end + 2;
  }
  return at;
}

/// Splits at a separator outside of brackets and texts. "::" is two colons, unless it is part of a name.
std::vector<std::string_view> split(std::string_view list, char separator) {
  std::vector<std::string_view> parts;
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (const std::size_t end = end_of_text(list, i); end != i) {
      i = end - 1;
      continue;
    }
    const char c = list[i];
    depth += (c == '(' || c == '[' || c == '{') - (c == ')' || c == ']' || c == '}');
    if (c != separator || depth != 0) continue;
    parts.push_back(list.substr(begin, i - begin));
    begin = i + 1;
  }
  parts.push_back(list.substr(begin));
  return parts;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

/// `"=r"(x)` as a call; empty if it is no operand of PTX.
std::optional<std::string> operand(std::string_view text, bool is_output) {
  text = trimmed(text);
  if (text.empty() || text[0] != '"') return std::nullopt;
  const std::size_t end = end_of_text(text, 0);
  const std::string_view constraint = text.substr(1, end - 2), value = trimmed(text.substr(end));
  if (value.size() < 2 || value.front() != '(' || value.back() != ')') return std::nullopt;
  const bool both = constraint.substr(0, 1) == "+", out = constraint.substr(0, 1) == "=";
  const std::string_view letter = constraint.substr(both || out ? 1 : 0);
  if (letter.size() != 1 || std::string_view("hrlqfdnb").find(letter) == std::string_view::npos) return std::nullopt;
  if ((both || out) != is_output) return std::nullopt;
  const char* function = both ? "ptx_in_out" : out ? "ptx_out" : "ptx_in";
  return "::bankwise::emulator::device::" + std::string(function) + std::string(value);
}

}  // namespace

std::optional<std::string> emulated_asm(std::string_view statement) {
  const auto open = statement.find('(');
  if (open == std::string_view::npos || statement.back() != ')') return std::nullopt;
  const std::string_view inside = statement.substr(open + 1, statement.size() - open - 2);
  const std::vector<std::string_view> sections = split(inside, ':');
  const std::string_view text = trimmed(sections[0]);
  // A statement of PTX ends in a semicolon.
  if (text.find(';') == std::string_view::npos || (text[0] != '"' && text[0] != 'R')) return std::nullopt;
  std::string call = "::bankwise::emulator::device::ptx([] { return " + std::string(text) + "; }";
  for (std::size_t section = 1; section < sections.size() && section < 3; ++section) {
    if (trimmed(sections[section]).empty()) continue;
    for (const std::string_view part : split(sections[section], ',')) {
      const auto emulated = operand(part, section == 1);
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
