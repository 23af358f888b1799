#include "bankcheck/fit/source_lines.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace bankwise::fit {

std::size_t begin_of_line(std::string_view source, std::size_t at) {
  return at == 0 ? 0 : source.rfind('\n', at - 1) + 1;  // npos + 1 is 0
}

std::size_t end_of_line(std::string_view source, std::size_t at) {
  const std::size_t end = std::min(source.find('\n', at), source.size());
  return end > at && source[end - 1] == '\r' ? end - 1 : end;
}

std::string_view indentation_at(std::string_view source, std::size_t at) {
  const std::size_t begin = begin_of_line(source, at);
  return source.substr(begin, std::min(source.find_first_not_of(" \t", begin), source.size()) - begin);
}

std::string_view line_end_of(std::string_view source) { return source.find("\r\n") == source.npos ? "\n" : "\r\n"; }

Edit line_behind(std::string_view source, std::size_t at, std::size_t indented, const std::string& text) {
  const std::size_t end = end_of_line(source, at);
  const std::string_view rest = source::trimmed(source.substr(at, end - at));
  const bool is_last = rest.empty() || (rest.starts_with("//") && !rest.ends_with('\\')) ||
                       (rest.starts_with("/*") && rest.find("*/") == rest.size() - 2);
  if (!is_last) return {at, at, " " + text};
  return {end, end, fmt::format("{}{}{}", line_end_of(source), indentation_at(source, indented), text)};
}

Edit line_before(std::string_view source, std::size_t at, const std::string& text) {
  const std::string_view indentation = indentation_at(source, at);
  const std::size_t begin = begin_of_line(source, at);
  const bool is_first = begin + indentation.size() == at;
  return {at, at, is_first ? fmt::format("{}{}{}", text, line_end_of(source), indentation) : text + " "};
}

std::optional<Edit> line_after(const source::SourceTokens& code, const Declaration& declaration,
                               const std::string& text) {
  std::size_t k = code.at_offset(declaration.at);
  while (k < code.tokens.size() && !code.is(k, ";")) ++k;
  if (text.empty() || k == code.tokens.size()) return std::nullopt;
  return line_behind(code.source, code.tokens[k].end, declaration.at, text);
}

}  // namespace bankwise::fit
