#include "bankcheck/fit/edits_parts.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string_view>

#include <bankwise/support/text.hpp>
#include "bankcheck/fit/side_effects.hpp"
#include "bankcheck/fit/statements.hpp"

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

}  // namespace bankwise::fit
