#include "bankcheck/fit/statements.hpp"

#include <algorithm>
#include <string_view>

#include <bankwise/support/text.hpp>

namespace bankwise::fit {
namespace {

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
