#include "bankcheck/fit/declaration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>

#include "bankcheck/predict/predict.hpp"
#include "bankcheck/source/tokens.hpp"

namespace bankwise::fit {
namespace {

bool is_qualifier(std::string_view word) { return word == "__shared__" || word == "local" || word == "__local"; }

using predict::bytes_of_type, predict::is_decoration;

/// The values of a source's named constants, as texts: the last definition before a place counts.
class SourceConstants {
 public:
  SourceConstants(std::string_view source, std::size_t before, std::string_view options) {
    note_options(options);
    note_constants(source.substr(0, before));
    while (before > 0 && before <= source.size()) {
      const std::string_view rest = source.substr(0, before);
      const std::string_view line = rest.substr(0, rest.find('\n'));
      note_macro(line);
      const std::size_t end = std::min(rest.find('\n'), rest.size() - 1) + 1;
      source.remove_prefix(end);
      before -= end;
    }
  }

  /// The first name in an expression that has no value; the expression itself if all have one, or one is a function.
  std::string unknown_in(const std::string& expression) const {
    const std::string text = with_values(expression, 0);
    const source::SourceTokens code(text);
    for (std::size_t i = 0; i < code.tokens.size(); ++i) {
      if (!code.is_name(i)) continue;
      if (code.is(i + 1, "(") || code.is(i + 1, "::") || code.is(i + 1, "<")) break;
      return std::string(code.text(i));
    }
    return expression.empty() ? "its length" : expression;
  }

  std::optional<std::uint64_t> value_of(const std::string& expression) const {
    try {
      const predict::IndexExpression parsed(with_values(expression, 0));
      const std::int64_t value = parsed(0);
      return value > 0 ? std::optional(std::uint64_t(value)) : std::nullopt;
    } catch (const predict::ExpressionError&) {
      return std::nullopt;
    }
  }

 private:
  static constexpr std::string_view blanks = " \t\r\f\v";

  void note(std::string_view name, std::string_view value) {
    value.remove_prefix(std::min(value.find_first_not_of(blanks), value.size()));
    if (!name.empty() && !value.empty()) values_[std::string(name)] = value;
  }

  /// Takes the name that the text begins with, after blanks; "" if there is none.
  static std::string_view take_name(std::string_view& text) {
    text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
    const auto is_part = [](char c) { return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0; };
    const auto end = std::ranges::find_if_not(text, is_part);
    const std::string_view name = text.substr(0, std::size_t(end - text.begin()));
    if (name.empty() || std::isdigit(static_cast<unsigned char>(name.front())) != 0) return {};
    text.remove_prefix(name.size());
    return name;
  }

  /// -DNAME=value, -D NAME=value
  void note_options(std::string_view text) {
    for (std::size_t at = text.find("-D"); at != std::string_view::npos; at = text.find("-D")) {
      text.remove_prefix(at + 2);
      const std::string_view name = take_name(text);
      if (text.starts_with('=')) note(name, text.substr(1, text.find_first_of(" \t\r\f\v\n") - 1));
    }
  }

  /// #define NAME value
  void note_macro(std::string_view line) {
    line.remove_prefix(std::min(line.find_first_not_of(blanks), line.size()));
    if (!line.starts_with('#')) return;
    line.remove_prefix(1);
    if (take_name(line) != "define") return;
    const std::string_view name = take_name(line);
    if (line.find_first_of(blanks) == 0) note(name, line);
  }

  /// const int NAME = value, OTHER = value; not of parameters, whose default values are not the only ones
  void note_constants(std::string_view text) {
    const source::SourceTokens code(text);
    const auto is_any = [&](std::size_t i, std::string_view marks) {
      return !code.text(i).empty() && marks.find(code.text(i)) != std::string_view::npos;
    };
    bool is_constant = false;
    for (std::size_t i = 0; i < code.tokens.size(); ++i) {
      if (code.is(i, "const") || code.is(i, "constexpr")) is_constant = i == 0 || !is_any(i - 1, "<,(");
      if (is_any(i, ";(){}")) is_constant = false;
      if (!is_constant || !code.is(i, "=") || !code.is_name(i - 1)) continue;
      std::size_t end = i + 1;
      for (int depth = 0; end < code.tokens.size() && !is_any(end, ";{}") && (depth > 0 || !is_any(end, ",)")); ++end)
        depth += is_any(end, "([") ? 1 : is_any(end, ")]") ? -1 : 0;
      if (!is_any(end, ",;")) continue;
      note(code.text(i - 1), text.substr(code.tokens[i].end, code.tokens[end].begin - code.tokens[i].end));
      i = end - 1;
    }
  }

  std::string with_values(const std::string& expression, int depth) const {
    constexpr int deepest = 8;
    std::string text;
    std::size_t end = 0;
    for (const source::Token& token : source::tokens_of(expression)) {
      const std::string word = expression.substr(token.begin, token.end - token.begin);
      const auto value = token.kind == source::TokenKind::name && depth < deepest ? values_.find(word) : values_.end();
      if (token.begin > end) text += ' ';  // or a comment, or a new line
      text += value == values_.end() ? word : fmt::format("({})", with_values(value->second, depth + 1));
      end = token.end;
      if (text.size() > 4096) break;  // macros that double
    }
    return text;
  }

  std::map<std::string, std::string, std::less<>> values_;
};

/// The declaration of the name at a token, if it is one.
std::optional<Declaration> declaration_at(const source::SourceTokens& code, std::size_t i) {
  if (!code.is_name(i) || !code.is(i + 1, "[")) return std::nullopt;
  std::size_t begin = i;
  while (begin > 0 && !code.is(begin - 1, ";") && !code.is(begin - 1, "{") && !code.is(begin - 1, "}")) --begin;
  Declaration declaration{.name = std::string(code.text(i)), .at = code.tokens[i].begin};
  std::size_t type_end = begin;
  while (type_end < i && !(code.is_name(type_end) && code.is(type_end + 1, "["))) ++type_end;
  for (std::size_t k = begin; k < i; ++k) {
    const std::string_view word = code.text(k);
    if (is_qualifier(word)) declaration.qualifier = std::string(word);
    if (k >= type_end || is_decoration(word)) continue;
    if (word == "(") {  // the parentheses of alignas(16)
      while (k < type_end && !code.is(k, ")")) ++k;
      continue;
    }
    declaration.type += declaration.type.empty() || word == "::" || declaration.type.ends_with("::") ? "" : " ";
    declaration.type += word;
  }
  if (declaration.qualifier.empty()) return std::nullopt;
  for (std::size_t k = i + 1, close = 0; code.is(k, "["); k = close + 1) {
    close = code.closing(k);
    if (close == code.tokens.size()) return std::nullopt;
    const Extract inside{code.tokens[k].end, code.tokens[close].begin};
    declaration.dimension_texts.push_back(inside);
    declaration.dimensions.emplace_back(source::trimmed(code.source.substr(inside.begin, inside.end - inside.begin)));
  }
  declaration.line = unsigned(code.line(i));
  return declaration;
}

void find_lengths(Declaration& declaration, std::string_view source, std::uint64_t bytes, std::string_view options) {
  const SourceConstants constants(source, declaration.at, options);
  std::uint64_t product = 1;
  for (const std::string& dimension : declaration.dimensions) {
    const auto length = constants.value_of(dimension);
    if (!length && declaration.unknown.empty()) declaration.unknown = constants.unknown_in(dimension) + " is not known";
    declaration.lengths.push_back(length.value_or(0));
    product *= length.value_or(0);
  }
  declaration.element = bytes_of_type(declaration.type);
  if (product > 0) {
    if (bytes > 0 && bytes % product == 0) {
      declaration.element = bytes / product;
    } else if (bytes > 0 && declaration.element > 0 && product * declaration.element != bytes) {
      declaration.lengths.clear();
      declaration.unknown = fmt::format("line {} declares an array of another size", declaration.line);
    }
    return;
  }
  declaration.lengths.clear();
  if (declaration.element == 0 || bytes == 0 || bytes % declaration.element != 0) return;
  const std::uint64_t elements = bytes / declaration.element;
  if (declaration.dimensions.size() == 1) declaration.lengths = {elements};
  // TILE is a template's parameter.
  if (declaration.dimensions.size() == 2 && declaration.dimensions[0] == declaration.dimensions[1]) {
    const auto side = std::uint64_t(std::llround(std::sqrt(double(elements))));
    if (side * side == elements) declaration.lengths = {side, side};
  }
}

}  // namespace

std::optional<Declaration> find_declaration(std::string_view source, std::string_view name,
                                            const std::vector<unsigned>& lines, std::uint64_t bytes,
                                            std::string_view options) {
  const std::size_t colons = name.rfind("::");
  const std::string_view wanted = colons == std::string_view::npos ? name : name.substr(colons + 2);
  const bool has_name = wanted.find(' ') == std::string_view::npos;
  const source::SourceTokens code(source);
  struct Candidate {
    Declaration declaration;
    unsigned last_line = ~0U;  // of its block
  };
  std::vector<Candidate> candidates;
  std::vector<std::vector<std::size_t>> blocks(1);  // those that are open, with their candidates
  unsigned line = 1;
  for (std::size_t i = 0, at = 0; i < code.tokens.size(); at = code.tokens[i++].begin) {
    line += unsigned(std::ranges::count(source.substr(at, code.tokens[i].begin - at), '\n'));
    if (code.is(i, "{")) blocks.emplace_back();
    if (code.is(i, "}")) {
      for (const std::size_t candidate : blocks.back()) candidates[candidate].last_line = line;
      blocks.pop_back();
      if (blocks.empty()) blocks.emplace_back();
    }
    auto declaration = declaration_at(code, i);
    if (!declaration) continue;
    const bool without_length = declaration->dimensions == std::vector<std::string>{""};
    if (has_name ? declaration->name != wanted : !without_length) continue;
    blocks.back().push_back(candidates.size());
    candidates.push_back({std::move(*declaration)});
  }
  std::erase_if(candidates, [&](const Candidate& candidate) {
    return !lines.empty() && std::ranges::none_of(lines, [&](unsigned used) {
      return used >= candidate.declaration.line && used <= candidate.last_line;
    });
  });
  if (candidates.empty() || (!has_name && candidates.size() > 1)) return std::nullopt;
  Declaration& declaration = candidates.back().declaration;
  find_lengths(declaration, source, bytes, options);
  return std::move(declaration);
}

}  // namespace bankwise::fit
