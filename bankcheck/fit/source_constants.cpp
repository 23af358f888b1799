#include "bankcheck/fit/source_constants.hpp"

#include <algorithm>
#include <cctype>

#include "bankcheck/fit/expressions.hpp"
#include "bankcheck/predict/predict.hpp"

namespace bankwise::fit {
namespace {

void skip_blanks(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t\r\f\v"), text.size()));
}

/// Takes the name that the text begins with, after blanks; "" if there is none.
std::string_view take_name(std::string_view& text) {
  skip_blanks(text);
  const auto is_part = [](char c) { return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0; };
  const auto end = std::ranges::find_if_not(text, is_part);
  const std::string_view name = text.substr(0, std::size_t(end - text.begin()));
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name.front())) != 0) return {};
  text.remove_prefix(name.size());
  return name;
}

/// The value of "(unsigned char)32", "32u" or "true", as the source would write it.
std::string template_argument(const source::SourceTokens& code, std::size_t begin, std::size_t end) {
  if (code.is(begin, "(")) {
    while (begin < end && !code.is(begin, ")")) ++begin;
    if (begin + 1 < end) ++begin;
  }
  const std::size_t at = code.tokens[begin].begin;
  std::string text(code.source.substr(at, code.tokens[end - 1].end - at));
  if (std::isdigit(static_cast<unsigned char>(text.front())) != 0) text.resize(text.find_last_not_of("uUlL") + 1);
  return text == "true" ? "1" : text == "false" ? "0" : text;
}

}  // namespace

std::vector<Directive> directives_of(std::string_view source) {
  std::vector<Directive> directives;
  unsigned line = 1;
  while (!source.empty()) {
    std::size_t end = source.find('\n');
    unsigned lines = 1;
    const auto is_joined = [&] {
      const std::string_view text = source.substr(0, end);
      return text.ends_with('\\') || text.ends_with("\\\r");
    };
    std::string_view text = source.substr(0, end);
    skip_blanks(text);
    const bool is_directive = text.starts_with('#');
    for (; is_directive && end != std::string_view::npos && is_joined(); ++lines) end = source.find('\n', end + 1);
    if (is_directive) {
      text = source.substr(0, end);
      text.remove_prefix(text.find('#') + 1);
      const std::string_view word = take_name(text);
      directives.push_back({word, text, line});
    }
    source.remove_prefix(std::min(end, source.size() - 1) + 1);
    line += lines;
  }
  return directives;
}

void SourceConstants::add(std::string_view name, std::string_view value) {
  skip_blanks(value);
  if (!name.empty() && !value.empty()) values_[std::string(name)] = value;
}

void SourceConstants::add_options(std::string_view options) {
  for (std::size_t at = options.find("-D"); at != std::string_view::npos; at = options.find("-D")) {
    options.remove_prefix(at + 2);
    const std::string_view name = take_name(options);
    if (!options.starts_with('=')) continue;
    const std::string_view value = options.substr(1, options.find_first_of(" \t\r\f\v\n") - 1);
    add(name, value);
    all_[std::string(name)].emplace(value);
  }
}

void SourceConstants::add_source(std::string_view source) {
  add_constants(source);
  for (const Macro& macro : macros_of(source)) {
    const auto [parameters, text] = parts_of(macro);
    std::string value(text);
    std::erase(value, '\\');  // that joins the next line
    if (macro.has_parameters) {
      functions_[std::string(macro.name)] = {{parameters.begin(), parameters.end()}, value};
    } else {
      add(macro.name, value);
      all_[std::string(macro.name)].emplace(source::trimmed(value));
    }
  }
}

std::vector<SourceConstants> SourceConstants::other_branches() const {
  std::vector<SourceConstants> others;
  for (const auto& [name, definitions] : all_) {
    for (const std::string& text : definitions) {
      const auto current = values_.find(name);
      if (text.empty() || (current != values_.end() && source::trimmed(current->second) == text)) continue;
      others.push_back(*this);
      others.back().values_[name] = text;
    }
  }
  return others;
}

/// Not of parameters, whose default values are not the only ones.
void SourceConstants::add_constants(std::string_view source) {
  const Expressions code(source);
  bool is_constant = false;
  for (std::size_t i = 0; i < code.tokens.size(); ++i) {
    if (code.is(i, "const") || code.is(i, "constexpr")) is_constant = i == 0 || !code.is_any(i - 1, "<,(");
    if (code.is_any(i, ";(){}")) is_constant = false;
    if (!is_constant || !code.is(i, "=") || !code.is_name(i - 1)) continue;
    const std::size_t end = code.next_outside(i + 1, code.tokens.size(), ",;){}");
    if (!code.is_any(end, ",;")) continue;
    add(code.text(i - 1), source.substr(code.tokens[i].end, code.tokens[end].begin - code.tokens[i].end));
    i = end - 1;
  }
}

std::string SourceConstants::unknown_in(const std::string& expression) const {
  const std::string text = with_values(expression);
  const source::SourceTokens code(text);
  for (std::size_t i = 0; i < code.tokens.size(); ++i) {
    if (!code.is_name(i)) continue;
    if (code.is(i + 1, "(") || code.is(i + 1, "::") || code.is(i + 1, "<")) break;
    return std::string(code.text(i));
  }
  return expression.empty() ? "its length" : expression;
}

std::optional<std::uint64_t> SourceConstants::value_of(const std::string& expression) const {
  try {
    const predict::IndexExpression parsed(with_values(expression));
    const std::int64_t value = parsed(0);
    return value > 0 ? std::optional(std::uint64_t(value)) : std::nullopt;
  } catch (const predict::ExpressionError&) {
    return std::nullopt;
  }
}

std::string SourceConstants::with_values(const std::string& expression, int depth) const {
  constexpr int deepest = 8;
  constexpr std::size_t longest = 4096;  // macros that double
  const Expressions code(expression);
  std::string text;
  std::size_t end = 0;
  for (std::size_t i = 0; i < code.tokens.size() && text.size() <= longest; ++i) {
    if (code.tokens[i].begin > end) text += ' ';  // or a comment, or a new line
    const std::string word(code.text(i));
    const std::size_t behind = code.is(i + 1, "(") ? code.past_bracket(i + 1) : i + 1;
    const bool can_replace = code.is_name(i) && depth < deepest;
    const auto value = can_replace ? values_.find(word) : values_.end();
    const auto function = can_replace && behind > i + 1 ? functions_.find(word) : functions_.end();
    const std::uint64_t bytes = can_replace && word == "sizeof" ? size_of(code.text_of({i + 2, behind - 1})) : 0;
    if (bytes > 0) {
      text += std::to_string(bytes);
      i = behind - 1;
    } else if (value != values_.end()) {
      text += "(" + with_values(value->second, depth + 1) + ")";
    } else if (function != functions_.end()) {
      SourceConstants inside = *this;
      const std::vector<std::string>& parameters = function->second.parameters;
      const std::vector<Part> arguments = code.split({i + 2, behind - 1}, ",");
      for (std::size_t k = 0; k < std::min(arguments.size(), parameters.size()); ++k) {
        inside.values_[parameters[k]] = with_values(code.text_of(arguments[k]), depth + 1);
      }
      text += "(" + inside.with_values(function->second.text, depth + 1) + ")";
      i = behind - 1;
    } else {
      text += word;
    }
    end = code.tokens[std::min(i, code.tokens.size() - 1)].end;
  }
  return text;
}

std::uint64_t SourceConstants::size_of(std::string type) const {
  constexpr int deepest = 8;
  for (int depth = 0; depth < deepest; ++depth) {
    const auto value = values_.find(type);
    if (value == values_.end()) break;
    type = source::trimmed(value->second);
  }
  return predict::bytes_of_type(type);
}

std::vector<Macro> macros_of(std::string_view source) {
  std::vector<Macro> macros;
  for (const Directive& directive : directives_of(source)) {
    if (directive.word != "define") continue;
    Macro macro{.text = directive.rest, .line = directive.line};
    macro.name = take_name(macro.text);
    macro.has_parameters = macro.text.starts_with('(');
    if (!macro.name.empty()) macros.push_back(macro);
  }
  return macros;
}

std::string_view macro_that_names(std::string_view source, std::string_view name) {
  for (const Macro& macro : macros_of(source)) {
    if (has_token(macro.text, name)) return macro.name;
  }
  return "";
}

std::vector<std::string_view> included_by(std::string_view source) {
  std::vector<std::string_view> files;
  for (const Directive& directive : directives_of(source)) {
    const auto open = directive.rest.find('"'), close = directive.rest.find('"', open + 1);
    if (directive.word != "include" || open == std::string_view::npos || close == std::string_view::npos) continue;
    files.push_back(directive.rest.substr(open + 1, close - open - 1));
  }
  return files;
}

std::pair<std::vector<std::string_view>, std::string_view> parts_of(const Macro& macro) {
  if (!macro.has_parameters) return {{}, macro.text};
  const source::SourceTokens code(macro.text);
  const std::size_t close = code.past_bracket(0) - 1;
  std::vector<std::string_view> names;
  for (std::size_t i = 1; i < close; ++i) {
    if (code.is_name(i)) names.push_back(code.text(i));
  }
  return {names, close < code.tokens.size() ? macro.text.substr(code.tokens[close].end) : ""};
}

unsigned line_of_torn_branch(const source::SourceTokens& code, std::size_t begin, std::size_t end) {
  struct Branch {
    unsigned line = 0;
    int depth = 0;
  };
  std::vector<Branch> branches;
  const std::vector<Directive> directives = directives_of(code.source);
  auto next = directives.begin();
  auto line_of_token = unsigned(code.line(begin));
  while (next != directives.end() && next->line <= line_of_token) ++next;
  for (std::size_t i = begin; i < end; ++i) {
    const std::size_t before = code.tokens[i == begin ? i : i - 1].begin;
    line_of_token += unsigned(std::ranges::count(code.source.substr(before, code.tokens[i].begin - before), '\n'));
    for (; next != directives.end() && next->line < line_of_token; ++next) {
      const bool ends = next->word == "endif", begins = next->word.starts_with("if");
      const bool continues = next->word.starts_with("el");
      if ((ends || continues) && !branches.empty()) {
        if (branches.back().depth != 0) return branches.back().line;
        branches.pop_back();
      }
      if (begins || continues) branches.push_back({next->line, 0});
    }
    if (!branches.empty()) branches.back().depth += int(code.is(i, "{")) - int(code.is(i, "}"));
  }
  const auto torn = std::ranges::find_if(branches, [](const Branch& branch) { return branch.depth != 0; });
  return torn == branches.end() ? 0 : torn->line;
}

std::map<std::string, std::vector<std::string>, std::less<>> template_arguments(std::string_view name) {
  std::map<std::string, std::vector<std::string>, std::less<>> arguments;
  const source::SourceTokens code(name);
  for (std::size_t i = 0; i + 1 < code.tokens.size(); ++i) {
    if (!code.is_name(i) || !code.is(i + 1, "<")) continue;
    std::vector<std::string> list;
    int depth = 1;
    std::size_t begin = i + 2, end = i + 2;
    for (; end < code.tokens.size() && depth > 0; ++end) {
      depth += int(code.is(end, "<") || code.is(end, "(")) - int(code.is(end, ">") || code.is(end, ")"));
      if (depth > 1 || (depth == 1 && !code.is(end, ","))) continue;
      if (end > begin) list.push_back(template_argument(code, begin, end));
      begin = end + 1;
    }
    arguments.try_emplace(std::string(code.text(i)), std::move(list));
    i = end - 1;
  }
  return arguments;
}

}  // namespace bankwise::fit
