#include "bankcheck/fit/edits_parts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "bankcheck/fit/functions.hpp"

namespace bankwise::fit {
namespace {

using source::SourceTokens;

/// Whether code in the block of the declaration sees no lambda of that block: it is a member of a local structure, or
/// in a lambda that does not capture by default.
bool is_closed(const SourceTokens& code, std::size_t declared, std::size_t place) {
  std::vector<std::size_t> open;
  for (std::size_t k = declared; k < code.tokens.size() && code.tokens[k].begin < place; ++k) {
    if (code.is(k, "{")) open.push_back(k);
    if (code.is(k, "}") && !open.empty()) open.pop_back();
  }
  const auto closes = [&](std::size_t k) {
    if (code.is(k, "struct") || code.is(k, "class") || code.is(k, "union")) return true;
    const bool is_index =
        (code.is_name(k - 1) && !code.is(k - 1, "return")) || code.is(k - 1, "]") || code.is(k - 1, ")");
    const bool captures = (code.is(k + 1, "&") || code.is(k + 1, "=")) && (code.is(k + 2, "]") || code.is(k + 2, ","));
    return code.is(k, "[") && !is_index && !captures;
  };
  return std::ranges::any_of(open, [&](std::size_t brace) {
    for (std::size_t k = brace; k-- > declared && !ends_statement(code, k);) {
      if (closes(k)) return true;
    }
    return false;
  });
}

/// Whether a place in the code after an end of a token lies in a comment or in the token before.
bool is_in_comment(std::string_view source, std::size_t from, std::size_t at) {
  while (from < at) {
    if (source.substr(from, 2) == "//") {
      from = std::min(source.find('\n', from), source.size());
    } else if (source.substr(from, 2) == "/*") {
      from = std::min(source.find("*/", from + 2), source.size() - 2) + 2;
    } else {
      ++from;
    }
  }
  return from > at;
}

/// Whether a brace opens a namespace that ends behind a place.
bool opens_namespace(const SourceTokens& code, std::size_t brace, std::size_t place) {
  const bool opens = code.is(brace, "{") && (code.is(brace - 1, "namespace") || code.is(brace - 2, "namespace"));
  return opens && code.tokens[code.past_bracket(brace) - 1].begin > place;
}

/// The beginning of the line that the function around the first use begins in, or of the comments above it: in its
/// namespace, if the last use is in that, too.
std::size_t begin_of_function(const SourceTokens& code, std::size_t first_use, std::size_t last_use) {
  const std::string_view source = code.source;
  std::size_t first = code.function_body(code.at_offset(first_use));
  const auto begins = [&] {
    return first == 0 || code.is(first - 1, ";") || code.is(first - 1, "}") ||
           (first > 2 && opens_namespace(code, first - 1, last_use));
  };
  while (!begins()) --first;
  std::size_t begin = begin_of_line(source, code.tokens[first].begin);
  while (begin > 0) {
    const std::size_t above = begin_of_line(source, begin - 1);
    const std::string_view line_above = source::trimmed(source.substr(above, begin - above));
    const std::size_t block = line_above.ends_with("*/") ? source.rfind("/*", begin) : source.npos;
    const std::size_t comment = line_above.starts_with("//") ? above : block;
    if (comment == source.npos) break;
    const std::size_t line = begin_of_line(source, comment);
    if (!source::trimmed(source.substr(line, comment - line)).empty()) break;
    begin = line;
  }
  const std::size_t before = first == 0 ? 0 : code.tokens[first - 1].end;
  return is_in_comment(source, before, begin) ? code.tokens[first].begin : begin;
}

}  // namespace

std::string free_name(const SourceTokens& code, const std::string& name, const std::vector<std::string>& taken) {
  std::string free = name;
  const auto is_taken = [&] {
    return std::ranges::find(taken, free) != taken.end() || has_token(code, {0, code.tokens.size()}, free);
  };
  for (int number = 2; is_taken(); ++number) free = fmt::format("{}{}", name, number);
  return free;
}

std::optional<IndexFunction> index_function(const SourceTokens& code, const Declaration& declaration,
                                            const std::vector<std::size_t>& uses,
                                            const std::vector<std::string>& parameters, const std::string& formula,
                                            const std::string& lambda) {
  const bool is_cuda = declaration.qualifier == "__shared__";
  const std::size_t body = body_around(code, declaration), declared = code.at_offset(declaration.at);
  const bool is_local = declaration.qualifier == "local" || declaration.qualifier == "__local";
  const bool is_unseen = std::ranges::any_of(uses, [&](std::size_t use) { return is_closed(code, declared, use); });
  if (body == 0 || (!is_cuda && !is_local) || is_unseen) return std::nullopt;
  const std::string text = fmt::format("(unsigned {}) {{ return {}; }}", fmt::join(parameters, ", unsigned "), formula);
  const std::size_t end = code.tokens[code.past_bracket(body) - 1].end;
  const auto is_behind = [&](std::size_t use) { return use > declaration.at && use < end; };
  if (is_cuda && std::ranges::all_of(uses, is_behind)) {
    const std::string name = free_name(code, lambda);
    auto line = line_after(code, declaration, fmt::format("const auto {} = []{};", name, text));
    if (!line) return std::nullopt;
    return IndexFunction{name, std::move(*line)};
  }
  std::string name = declaration.name + "_at";
  if (!is_cuda) {
    const std::size_t open = code.opening(body - 1);
    if (open == 0 || !code.is_name(open - 1)) return std::nullopt;
    name = fmt::format("{}_{}", code.text(open - 1), name);
  }
  name = free_name(code, name);
  const auto [first_use, last_use] = std::minmax_element(uses.begin(), uses.end());
  const std::size_t at = begin_of_function(code, *first_use, *last_use);
  const std::string_view line_end = line_end_of(code.source);
  const std::string head = is_cuda ? "__device__ inline " : "";
  return IndexFunction{name, {at, at, fmt::format("{}unsigned {}{}{}{}", head, name, text, line_end, line_end)}};
}

}  // namespace bankwise::fit
