#include "bankcheck/fit/expressions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include <bankwise/support/text.hpp>
#include "bankcheck/predict/predict.hpp"

namespace bankwise::fit {
namespace {

constexpr std::string_view blanks = " \t\r\n\f\v";

using source::SourceTokens;

/// Whether a line, which may begin with blanks and #, is a pragma.
bool is_pragma(std::string_view line) {
  const std::size_t word = std::min(line.find_first_not_of(" \t#"), line.size());
  return line.substr(word).starts_with("pragma");
}

/// The lines of the preprocessor behind a token and before the next one.
struct DirectivesBehind {
  std::size_t begin = std::string_view::npos;  // of the last line; npos: there is none
  bool all_pragmas = true;
};
DirectivesBehind directives_behind(const SourceTokens& code, std::size_t token) {
  DirectivesBehind found;
  if (token + 1 >= code.tokens.size()) return found;
  const std::size_t end = code.tokens[token + 1].begin;
  for (std::size_t line = code.source.find('\n', code.tokens[token].end); line < end;
       line = code.source.find('\n', line + 1)) {
    const std::size_t first = code.source.find_first_not_of(" \t", line + 1);
    if (first >= end || code.source[first] != '#') continue;
    found.begin = line + 1;
    found.all_pragmas = found.all_pragmas && is_pragma(code.source.substr(first, end - first));
  }
  return found;
}

}  // namespace

bool ends_statement(const SourceTokens& code, std::size_t i) {
  return code.is(i, ";") || code.is(i, "{") || code.is(i, "}");
}

std::size_t statement_begin(const SourceTokens& code, std::size_t i) {
  while (i > 0 && !ends_statement(code, i - 1)) --i;
  return i;
}

std::size_t callee_before(const SourceTokens& code, std::size_t open, std::size_t first) {
  std::size_t callee = open - 1;
  for (int depth = 0; callee > first && (code.is(callee, ">") || depth > 0); --callee) {
    depth += int(code.is(callee, ">")) - int(code.is(callee, "<"));
  }
  return callee;
}

std::size_t count_tokens(const SourceTokens& code, Part part, std::string_view word) {
  std::size_t count = 0;
  for (std::size_t i = part.begin; i < part.end; ++i) count += code.is(i, word) ? 1 : 0;
  return count;
}

bool has_token(std::string_view text, std::string_view word) {
  const SourceTokens code(text);
  return has_token(code, {0, code.tokens.size()}, word);
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
    if (support::has_word("using struct class union enum typename", whole_.text(k - 1))) return true;
    if (whole_.is(statement_begin(whole_, k), "typedef") && whole_.is(k + 1, ";")) return true;
  }
  return false;
}

bool Expressions::declares(std::size_t i) const {
  constexpr std::string_view of_statements = "return else do case goto throw and or not new delete";
  std::size_t before = i - 1;
  while (is(before, "*") || is(before, "&")) --before;
  if (is_name(before) && before == i - 1 && !is(before, "sizeof"))
    return !support::has_word(of_statements, text(before));
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

std::size_t Expressions::next_outside(std::size_t i, std::size_t end, std::string_view marks) const {
  while (i < end && !is_any(i, marks)) i = is_any(i, "([{") ? past_bracket(i) : i + 1;
  return std::min(i, end);
}

std::vector<Part> Expressions::split(Part part, std::string_view marks) const {
  std::vector<Part> parts;
  for (std::size_t begin = part.begin; begin <= part.end; begin = parts.back().end + 1) {
    parts.push_back({begin, next_outside(begin, part.end, marks)});
  }
  return parts;
}

std::vector<Part> Expressions::arguments_at(std::size_t open) const {
  std::vector<Part> arguments = split({open + 1, past_bracket(open) - 1}, ",");
  std::erase_if(arguments, [](Part argument) { return argument.size() == 0; });
  return arguments;
}

Part Expressions::inner(Part part) const {
  while (part.size() > 2 && is(part.begin, "(") && past_bracket(part.begin) == part.end) {
    part = {part.begin + 1, part.end - 1};
  }
  return part;
}

std::size_t statement_end(const SourceTokens& code, std::size_t i) {
  if (code.is(i, "{")) return code.past_bracket(i);
  if (code.is(i, "else") || code.is(i, "do")) {
    const std::size_t end = statement_end(code, i + 1);
    return code.is(i, "do") ? statement_end(code, end) : end;
  }
  if (support::has_word("for if while switch", code.text(i)) && code.is(i + 1, "(")) {
    const std::size_t head = code.past_bracket(i + 1);
    const std::size_t end = code.is(head, ";") ? head + 1 : statement_end(code, head);
    return code.is(i, "if") && code.is(end, "else") ? statement_end(code, end) : end;
  }
  while (i < code.tokens.size() && !code.is(i, ";")) {
    i = code.is(i, "(") || code.is(i, "[") || code.is(i, "{") ? code.past_bracket(i) : i + 1;
  }
  return std::min(i + 1, code.tokens.size());
}

std::size_t statement_around(const SourceTokens& code, std::size_t block, std::size_t token) {
  std::size_t begin = block + 1;
  for (std::size_t end = statement_end(code, begin); end <= token; end = statement_end(code, begin)) begin = end;
  return begin;
}

bool begins_statement(const SourceTokens& code, std::size_t i) {
  const bool is_label = code.is_name(i) && code.is(i + 1, ":");
  return !is_label && !support::has_word("case default else", code.text(i));
}

std::size_t block_around(const SourceTokens& code, std::size_t first, std::size_t last) {
  const std::size_t body = code.function_body(first);
  if (body == 0 || last >= code.past_bracket(body)) return 0;
  std::size_t block = body;
  for (std::size_t i = body; i < first; ++i) {
    if (code.is(i, "{") && code.past_bracket(i) > last) block = i;
  }
  return block;
}

bool has_branches(const SourceTokens& code, Part part) {
  for (std::size_t i = part.begin; i + 1 < part.end; ++i) {
    if (!directives_behind(code, i).all_pragmas) return true;
  }
  return false;
}

std::size_t place_before(const SourceTokens& code, std::size_t statement) {
  const std::size_t begin = code.tokens[statement].begin;
  const DirectivesBehind directive = statement == 0 ? DirectivesBehind() : directives_behind(code, statement - 1);
  if (directive.begin == std::string_view::npos) return begin;
  const std::string_view lines = code.source.substr(directive.begin, begin - directive.begin);
  return is_pragma(lines) ? directive.begin + lines.find('#') : begin;
}

}  // namespace bankwise::fit
