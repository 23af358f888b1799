#include "bankcheck/fit/edits_parts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string_view>

#include <bankwise/support/text.hpp>
#include "bankcheck/fit/expressions.hpp"
#include "bankcheck/fit/functions.hpp"
#include "bankcheck/fit/side_effects.hpp"

namespace bankwise::fit {
namespace {

using source::SourceTokens;
using source::TokenKind;

/// The variables that an index depends on; nothing if it does more than compute with them, or divides by one.
std::optional<std::set<std::string_view>> variables_of(const SourceTokens& index) {
  constexpr std::string_view marks = "+-*/%&|^<>().";
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < index.tokens.size(); ++i) {
    const TokenKind kind = index.tokens[i].kind;
    const bool divides = index.is(i - 1, "/") || index.is(i - 1, "%");
    if (kind == TokenKind::text || (kind != TokenKind::number && divides)) return std::nullopt;
    if (kind == TokenKind::mark && (index.text(i).size() > 1 || marks.find(index.text(i)) == marks.npos))
      return std::nullopt;
    if (kind == TokenKind::name && index.is(i + 1, "(")) return std::nullopt;  // a call
    if (kind == TokenKind::name && !index.is(i - 1, ".")) names.insert(index.text(i));
  }
  return names;
}

class Finder {
 public:
  explicit Finder(const Expressions& code) : code_(code) {}

  /// The longest run of these uses from the first on that can have a variable. `uses`: their tokens, in order.
  IndexVariable first_run(const std::vector<std::size_t>& uses, const std::set<std::string_view>& variables) const {
    IndexVariable run;
    for (std::size_t count = 2; count <= uses.size(); ++count) {
      const auto at = place_for(uses.front(), uses[count - 1], variables);
      if (!at) break;
      run.at = *at;
      run.uses.resize(count);
    }
    return run;
  }

 private:
  /// Where a variable for all uses from one token to another is declared.
  std::optional<std::size_t> place_for(std::size_t first, std::size_t last,
                                       const std::set<std::string_view>& variables) const {
    const std::size_t block = block_around(code_, first, last);
    if (block == 0) return std::nullopt;
    const std::size_t begin = statement_around(code_, block, first);
    const Part region{begin, statement_end(code_, statement_around(code_, block, last))};
    if (!begins_statement(code_, begin) || has_branches(code_, region)) return std::nullopt;
    const std::size_t body = code_.function_body(first);
    const auto is_constant = [&](std::string_view name) { return keeps_value(name, region, body); };
    return std::ranges::all_of(variables, is_constant) ? std::optional(place_before(code_, begin)) : std::nullopt;
  }

  /// Whether a name has one value in a region of a function.
  bool keeps_value(std::string_view name, Part region, std::size_t body) const {
    const Part function{code_.opening(body - 1), code_.past_bracket(body)};
    bool is_local = false, is_written = false, has_references = false;
    for (std::size_t i = 0; i < code_.tokens.size(); ++i) {
      const bool is_inside = function.contains(i);
      has_references |= is_inside && code_.is(i, "[") && code_.is(i + 1, "&");
      if (!code_.is(i, name) || code_.is(i - 1, ".") || code_.is(i - 1, "->")) continue;
      const bool is_declared = code_.declares(i), is_changed = !is_declared && may_change(i);
      is_local |= is_inside && is_declared;
      if (is_inside && is_declared && is_shared(i)) return false;
      is_written |= is_changed && (is_inside || !is_declared);
      if (region.contains(i) && (is_declared || is_changed)) return false;
    }
    return !is_written || (is_local && !has_references);
  }

  /// Whether other threads may change what is declared at a token.
  bool is_shared(std::size_t name) const {
    for (std::size_t i = name; i-- > 0 && !ends_statement(code_, i) && !code_.is(i, "(");) {
      if (support::has_word("__shared__ volatile local __local", code_.text(i))) return true;
    }
    return false;
  }

  /// Whether a variable, or a member of it, is assigned to, is counted, or is given away at a token.
  bool may_change(std::size_t name) const {
    std::size_t behind = name + 1;
    while (code_.is(behind, ".") && code_.is_name(behind + 1)) behind += 2;
    if (code_.is_pair(behind, "+-") || code_.is_pair(name - 2, "+-") || code_.takes_address(name - 1)) return true;
    std::size_t mark = behind;
    if (code_.is_any(mark, "+-*/%&|^")) ++mark;
    if (code_.is_pair(mark, "<>")) mark += 2;
    const bool is_assigned = code_.is(mark, "=") && !code_.is_pair(mark, "=");
    const bool is_argument = code_.is_any(name - 1, "(,") && code_.is_any(behind, "),");
    return is_assigned || (is_argument && is_passed(name));
  }

  /// Whether a name between commas is an argument of a function that may change it: one whose parameters are known to
  /// be no references changes none.
  bool is_passed(std::size_t argument) const {
    const std::size_t open = code_.opening(argument);
    const std::string_view callee = code_.text(open - 1);
    if (!code_.is_operand(open - 1) || support::has_word("if for while switch return sizeof", callee)) return false;
    if (is_atomic(callee) || callee.starts_with("__") || support::has_word("min max", callee)) return false;
    for (std::size_t i = 0; i < code_.tokens.size(); ++i) {
      if (!code_.is(i, callee) || !code_.is(i + 1, "(")) continue;
      if (has_token(code_, {i + 2, code_.past_bracket(i + 1)}, "&")) return true;
    }
    return false;
  }

  const Expressions& code_;
};

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

std::vector<IndexVariable> index_variables(const Expressions& code, const std::vector<Use>& uses,
                                           const std::vector<std::string>& texts) {
  std::map<std::string_view, std::vector<std::size_t>> by_text;
  for (std::size_t i = 0; i < uses.size(); ++i) by_text[texts[i]].push_back(i);
  const Finder finder(code);
  std::vector<IndexVariable> variables;
  for (auto& [text, numbers] : by_text) {
    const SourceTokens index(text);
    const auto names = variables_of(index);
    if (!names || names->empty()) continue;
    std::ranges::sort(numbers, {}, [&](std::size_t i) { return uses[i].begin; });
    while (numbers.size() > 1) {
      std::vector<std::size_t> tokens;
      for (const std::size_t i : numbers) {
        tokens.push_back(code.at_offset(uses[i].begin));
      }
      IndexVariable run = finder.first_run(tokens, *names);
      const std::size_t count = std::max<std::size_t>(run.uses.size(), 1);
      run.uses.assign(numbers.begin(), numbers.begin() + std::ptrdiff_t(count));
      numbers.erase(numbers.begin(), numbers.begin() + std::ptrdiff_t(count));
      if (count > 1) variables.push_back(std::move(run));
    }
  }
  std::ranges::stable_sort(variables, {}, &IndexVariable::at);
  return variables;
}

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
