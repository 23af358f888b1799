#include "bankcheck/fit/expressions.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "bankcheck/predict/predict.hpp"

namespace bankwise::fit {
namespace {

constexpr std::string_view blanks = " \t\r\n\f\v";

}  // namespace

bool ends_statement(const source::SourceTokens& code, std::size_t i) {
  return code.is(i, ";") || code.is(i, "{") || code.is(i, "}");
}

std::vector<Part> arguments_at(const source::SourceTokens& code, std::size_t open) {
  std::vector<Part> parts;
  const std::size_t close = code.past_bracket(open) - 1;
  for (std::size_t i = open + 1, begin = i; i <= close && i < code.tokens.size(); ++i) {
    if (i < close && (code.is(i, "(") || code.is(i, "[") || code.is(i, "{"))) i = code.past_bracket(i) - 1;
    if (i < close && !code.is(i, ",")) continue;
    if (i > begin) parts.push_back({begin, i});
    begin = i + 1;
  }
  return parts;
}

std::optional<std::string> Expressions::plain_text(Part part, std::string& comments) const {
  std::string plain;
  for (std::size_t i = part.begin; i < part.end; ++i) {
    plain += text(i);
    const std::size_t gap = tokens[i].end;
    const std::size_t next = i + 1 < tokens.size() ? tokens[i + 1].begin : source.size();
    std::string_view between = source.substr(gap, next - gap);
    if (i + 1 < part.end && !between.empty()) plain += ' ';
    const auto skip = [&](std::size_t count) {
      between.remove_prefix(std::min(between.find_first_not_of(blanks, count), between.size()));
    };
    for (skip(0); between.starts_with("//") || between.starts_with("/*");) {
      const bool is_line = between.starts_with("//");
      const std::size_t past = std::min(is_line ? between.find('\n') : between.find("*/", 2), between.size());
      std::string comment(source::trimmed(between.substr(2, past - 2)));
      for (auto at = comment.find("*/"); at != comment.npos; at = comment.find("*/")) comment.insert(at + 1, " ");
      comments += fmt::format(" /* {} */", comment);
      skip(past + (is_line ? 1 : 2));
    }
    if (!between.empty()) return std::nullopt;
  }
  return plain;
}

bool Expressions::takes_address(std::size_t k) const {
  if (!is(k, "&")) return false;
  std::size_t before = 0;  // of the same run: "&&&" is "&& &"
  while (before < k && is(k - before - 1, "&") && touches_next(k - before - 1)) ++before;
  const bool is_half = before % 2 == 1 || (is(k + 1, "&") && touches_next(k));
  return !is_half && !is_operand(k - 1);
}

bool Expressions::is_operand(std::size_t i) const {
  if (i >= tokens.size()) return false;
  const bool word = is_name(i) && !is(i, "return");
  const bool closes = is(i, ")") && !closes_cast(i);
  return word || tokens[i].kind == source::TokenKind::number || closes || is(i, "]");
}

bool Expressions::closes_cast(std::size_t close) const {
  if (is(close - 1, "*")) return true;
  std::size_t open = close;
  while (open > 0 && (is_name(open - 1) || is(open - 1, "::"))) --open;
  return open > 0 && open < close && is(open - 1, "(") && names_type(close - 1) && !is_operand(open - 2);
}

bool Expressions::names_type(std::size_t i) const {
  const std::string_view word = text(i);
  if (predict::bytes_of_type(std::string(word)) > 0 || predict::is_decoration(word) || word.ends_with("_t"))
    return true;
  for (std::size_t k = 0; k < whole_.tokens.size(); ++k) {
    if (!whole_.is(k, word)) continue;
    for (const std::string_view head : {"using", "struct", "class", "union", "enum", "typename"}) {
      if (whole_.is(k - 1, head)) return true;
    }
    std::size_t begin = k;
    while (begin > 0 && !ends_statement(whole_, begin - 1)) --begin;
    if (whole_.is(begin, "typedef") && whole_.is(k + 1, ";")) return true;
  }
  return false;
}

bool Expressions::declares(std::size_t i) const {
  constexpr std::string_view of_statements[]{"return", "else", "do",  "case", "goto",  "throw",
                                             "and",    "or",   "not", "new",  "delete"};
  std::size_t before = i - 1;
  while (is(before, "*") || is(before, "&")) --before;
  if (is_name(before) && before == i - 1 && !is(before, "sizeof"))
    return std::ranges::find(of_statements, text(before)) == std::end(of_statements);
  if (is_name(before) && before < i - 1) return is(before, "auto") || names_type(before);
  if (!is(before, ",") || before < i - 1) return false;
  int depth = 0;  // back to the type in "float a, t[4]"
  for (; before > 0 && !(depth == 0 && (ends_statement(*this, before) || is(before, "("))); --before) {
    depth += int(is(before, ")") || is(before, "]") || is(before, "}")) -
             int(is(before, "(") || is(before, "[") || is(before, "{"));
  }
  const std::size_t type = before + 1;
  if (!is_name(type)) return false;
  if (is_name(type + 1)) return declares(type + 1);  // "register uint32 a, b"
  return (is(type, "auto") || names_type(type)) && !is(type + 1, "(") && !is(type + 1, "{");
}

std::size_t Expressions::past_element(std::size_t i) const {
  for (++i; is(i, "[") || is(i, ".");) i = is(i, "[") ? closing(i) + 1 : i + 2;
  return i;
}

}  // namespace bankwise::fit
