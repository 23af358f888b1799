// The bases of indices: `2 * i` of `t[2 * i]` and `t[2 * i + 1]`.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include <bankwise/support/text.hpp>
#include "bankcheck/fit/declaration.hpp"
#include "bankcheck/fit/edits_parts.hpp"
#include "bankcheck/fit/expressions.hpp"
#include "bankcheck/fit/index.hpp"
#include "bankcheck/fit/value_ranges.hpp"

namespace bankwise::fit {
namespace {

using source::SourceTokens;

/// The operands of + or | at the outermost level of an index; nothing if it has other operators there.
std::vector<Part> operands_of(const Ranges& code, Part index) {
  if (code.next_outside(index.begin, index.end, "<>&^?,=!-") < index.end) return {};
  const bool is_or = code.next_outside(index.begin, index.end, "|") < index.end;
  std::vector<Part> operands = code.split(index, is_or ? "|" : "+");
  const bool has_sign = std::ranges::any_of(operands, [](const Part& operand) { return operand.size() == 0; });
  return has_sign ? std::vector<Part>() : operands;
}

/// The values of a rest if no value of the base has a bit of them.
std::optional<Range> separate_rest(const Ranges& code, Part base, Part rest) {
  const auto range = code.of(rest);
  if (!range || range->low < 0) return std::nullopt;
  if (range->high == 0) return range;
  const auto values = code.of(base);
  const bool is_separate = values && values->low >= 0 && (range->possible_bits() & values->possible_bits()) == 0;
  return is_separate ? range : std::nullopt;
}

/// Whether an index has no comment, and no macro that may stand for operators that bind less than its own.
bool has_plain_tokens(const Ranges& code, Part index, const std::vector<std::string>& sums) {
  for (std::size_t i = index.begin; i < index.end; ++i) {
    const std::string_view gap = code.source.substr(code.tokens[i].end, code.tokens[i + 1].begin - code.tokens[i].end);
    const bool is_blank = gap.find_first_not_of(' ') == gap.npos;
    if (!is_blank || std::ranges::find(sums, code.text(i)) != sums.end()) return false;
  }
  return true;
}

/// With a variable as the base if one of two operands is one, otherwise with the longest base that has a rest.
BasedIndex based_index(const Ranges& code, std::size_t bracket, Part index) {
  index = code.inner(index);
  Part base = index;
  BasedIndex found;
  found.at = code.tokens[bracket].begin;
  const std::vector<Part> operands = operands_of(code, index);
  std::vector<std::pair<Part, Part>> splits;  // base and rest
  if (operands.size() > 1) {
    splits = {{{index.begin, operands[operands.size() - 2].end}, operands.back()},
              {{operands[1].begin, index.end}, operands.front()}};
  }
  const auto is_variable = [&](const auto& split) {
    return split.first.size() == 1 && code.is_name(split.first.begin);
  };
  std::stable_partition(splits.begin(), splits.end(), is_variable);
  for (const auto& [others, rest] : splits) {
    const auto range = separate_rest(code, others, rest);
    if (!range) continue;
    base = code.inner(others);
    found.rest = range->high == 0 ? "" : code.text_of(rest);
    found.rest_bits = range->possible_bits();
    break;
  }
  found.base = code.text_of(base);
  if (base.size() == 1 && code.is_name(base.begin)) found.variable = code.tokens[base.begin].begin;
  return found;
}

/// Whether the tokens before a variable's name declare one that can be changed, and holds an int.
bool is_ordinary_type(const SourceTokens& code, std::size_t begin, std::size_t name) {
  constexpr std::string_view others = "const constexpr __shared__ volatile static";
  for (std::size_t i = begin; i < name && code.is_name(i) && !code.is(i + 1, "=") && !code.is(i + 1, ","); ++i) {
    if (support::has_word(others, code.text(i)) || !may_hold_int(std::string(code.text(i)))) return false;
  }
  return begin < name && !code.is(name - 1, "*") && !code.is(name - 1, "&");
}

/// The statement in a block that another one can follow, which changes a variable.
struct Place {
  std::size_t block = 0, behind = 0;  // the tokens of its { and past the statement
  std::size_t first_use = 0;          // of the changed variable
};

/// Finds what a function does with one variable.
class VariableReader {
 public:
  explicit VariableReader(const Ranges& code) : code_(code) {}

  /// The token that declares a name in a block around it; nothing if it is none, or in the head of a loop.
  std::optional<std::size_t> declaration_of(std::size_t name) const {
    const std::size_t body = code_.function_body(name);
    for (std::size_t i = name; body > 0 && i-- > body;) {
      if (!code_.is(i, code_.text(name)) || code_.is(i - 1, ".") || code_.is(i - 1, "->") || !code_.declares(i))
        continue;
      std::size_t open = i;
      while (open > 0 && !ends_statement(code_, open) && !(code_.is(open, "(") && code_.past_bracket(open) > i)) --open;
      if (code_.is(open, "(")) {  // of a loop or a lambda
        if (statement_end(code_, code_.past_bracket(open)) > name) return std::nullopt;
      } else if (code_.past_bracket(block_around(code_, i, i)) > name) {
        return i;
      }
    }
    return std::nullopt;
  }

  /// Where the variable that is declared at a token can be changed for these uses, which are in order.
  std::optional<Place> place_of_change(std::size_t declared, const std::vector<std::size_t>& uses) const {
    const std::size_t statement = statement_begin(code_, declared);
    if (!is_ordinary_type(code_, statement, declared) || is_in_macro(code_.text(declared))) return std::nullopt;
    std::size_t block = block_around(code_, declared, declared);
    std::vector<std::size_t> others = other_names(declared, code_.past_bracket(block), uses);
    const bool has_value = code_.is(declared + 1, "=");
    if (!has_value) {  // until a statement of some block assigns to it
      if (others.size() < 2 || !is_assignment(others[1])) return std::nullopt;
      others.erase(others.begin());
      block = block_around(code_, others.front(), others.front());
    }
    const std::size_t end = code_.past_bracket(block), last = others.back();
    if (last >= end || uses.back() >= end || has_jumps(block)) return std::nullopt;
    const std::size_t begin = statement_around(code_, block, last), behind = statement_end(code_, begin);
    const Part region{statement_around(code_, block, others.front()), behind + 1};
    if (!begins_statement(code_, begin) || uses.front() < behind || has_branches(code_, region)) return std::nullopt;
    const Part function = code_.function_at(declared);
    const auto is_known = [&](std::size_t i) { return code_.writing_at(i, function) != Ranges::Writing::unknown; };
    return std::ranges::all_of(others, is_known) ? std::optional(Place{block, behind, uses.front()}) : std::nullopt;
  }

 private:
  std::vector<std::size_t> other_names(std::size_t declared, std::size_t end,
                                       const std::vector<std::size_t>& uses) const {
    std::vector<std::size_t> others;
    for (std::size_t i = declared; i < end; ++i) {
      const bool is_member = code_.is(i - 1, ".") || code_.is(i - 1, "->");
      if (code_.is(i, code_.text(declared)) && !is_member && !std::ranges::binary_search(uses, i)) others.push_back(i);
    }
    return others;
  }

  /// Whether a token begins a statement that assigns to a variable.
  bool is_assignment(std::size_t name) const {
    const bool is_equal = code_.is(name + 2, "=");
    return ends_statement(code_, name - 1) && code_.is(name + 1, "=") && !is_equal;
  }

  /// Whether a statement may be left out by a jump: in a switch, or where a label is. A lambda may see the variable as
  /// it was, and a structured binding may declare the name again.
  bool has_jumps(std::size_t block) const {
    const bool is_switch = code_.is(block - 1, ")") && code_.is(code_.opening(block - 1) - 1, "switch");
    const std::size_t body = code_.function_body(block + 1), end = code_.past_bracket(body);
    bool jumps = is_switch;
    for (std::size_t i = body; i < end; ++i) {
      const bool is_binding = code_.is(i, "[") && (code_.is(i - 1, "auto") || code_.is(i - 1, "&"));
      jumps = jumps || is_binding || code_.is(i, "goto") || (code_.is(i, "[") && code_.is(i + 1, "&"));
    }
    return jumps;
  }

  bool is_in_macro(std::string_view name) const {
    return std::ranges::any_of(macros_of(code_.source), [&](const Macro& macro) {
      const auto [parameters, text] = parts_of(macro);
      return has_token(text, name) && std::ranges::find(parameters, name) == parameters.end();
    });
  }

  const Ranges& code_;
};

/// "i << 3" and "(i * 8)" as the name and the factor.
std::optional<std::pair<std::string, std::uint64_t>> multiple(const std::string& text) {
  constexpr std::size_t max_digits = 4, max_shift = 20;
  const SourceTokens code(text);
  const std::size_t count = code.tokens.size(), first = code.is(0, "(") && code.past_bracket(0) == count ? 1 : 0;
  const std::size_t last = count - 1 - first;
  const bool is_shift = code.is(first + 1, "<") && code.is(first + 2, "<") && last == first + 3;
  const bool is_product = code.is(first + 1, "*") && last == first + 2;
  if (!code.is_name(first) || !(is_shift || is_product)) return std::nullopt;
  const std::string number(code.text(last));
  if (number.size() > max_digits || number.find_first_not_of("0123456789") != number.npos) return std::nullopt;
  const std::uint64_t value = std::stoull(number);
  if (is_shift && value > max_shift) return std::nullopt;
  return std::pair(std::string(code.text(first)), is_shift ? std::uint64_t{1} << value : value);
}

/// The value of an index that is a name, if the name is a constant of the source, in all branches of the preprocessor.
std::optional<std::uint64_t> constant_of(const Ranges& code, Part index, const SourceConstants& of_source) {
  if (index.size() != 1 || !code.is_name(index.begin)) return std::nullopt;
  const std::string name = code.text_of(index);
  const auto here = code.of(index);
  const auto value = of_source.value_of(name);
  const auto is_other = [&](const SourceConstants& other) { return other.value_of(name) != value; };
  const bool is_known = value && here && here->low == here->high && std::uint64_t(here->low) == *value;
  return is_known && std::ranges::none_of(of_source.other_branches(), is_other) ? value : std::nullopt;
}

}  // namespace

void find_based_indices(Declaration& declaration, std::string_view source, const SourceConstants& constants,
                        const SourceConstants& of_source, const std::array<std::uint64_t, 3>& block) {
  const bool is_line = declaration.dimensions.size() == 1 && declaration.hidden_lines.empty() &&
                       declaration.tied.empty() && declaration.macros.empty();
  if (!is_line) return;
  const Uses uses = uses_of(source, declaration, true);
  if (!uses.why.empty() || !uses.pointers.empty() || !uses.parameters.empty()) return;
  // Of any launch of CUDA, also of one that has not run.
  constexpr std::array<std::uint64_t, 3> largest{1024, 1024, 64};
  const Ranges code(source, constants, declaration.qualifier == "__shared__" ? largest : block);
  for (const Use& use : uses.uses) {
    const std::size_t open = code.at_offset(use.begin), behind = code.past_bracket(open);
    if (!use.array.empty() || behind < open + 3) continue;
    const Part index{open + 1, behind - 1};
    if (const auto value = constant_of(code, index, of_source)) {
      declaration.constant_indices.push_back({use.begin, *value});
    } else if (has_plain_tokens(code, index, declaration.sums)) {
      declaration.based_indices.push_back(based_index(code, open, index));
    }
  }
}

std::vector<BaseVariable> base_variables(std::string_view source, const std::vector<std::size_t>& names) {
  constexpr std::size_t max_names = 256;  // each is looked for in its whole function
  if (names.size() > max_names) return {};
  const SourceConstants no_constants;
  const Ranges code(source, no_constants, {});
  const VariableReader reader(code);
  std::map<std::size_t, std::vector<std::size_t>> by_declaration;
  for (const std::size_t name : names) {
    const std::size_t token = code.at_offset(name);
    if (const auto declared = reader.declaration_of(token)) by_declaration[*declared].push_back(token);
  }
  std::vector<std::pair<Place, BaseVariable>> found;
  for (auto& [declared, uses] : by_declaration) {
    std::ranges::sort(uses);
    const auto place = reader.place_of_change(declared, uses);
    if (!place) continue;
    BaseVariable& variable = found.emplace_back(*place, BaseVariable{}).second;
    variable.name = code.text(declared);
    for (const std::size_t use : uses) variable.uses.push_back(code.tokens[use].begin);
  }
  std::vector<BaseVariable> variables;
  for (auto& [own, variable] : found) {
    std::size_t behind = own.behind;  // one place for many, if none is used before
    for (const auto& [other, ignored] : found) {
      const bool is_later = other.block == own.block && other.behind > behind && other.behind <= own.first_use;
      if (is_later && !has_branches(code, {own.behind - 1, other.behind + 1})) behind = other.behind;
    }
    variable.place = code.tokens[behind - 1].end;
    variables.push_back(std::move(variable));
  }
  std::ranges::stable_sort(variables, {}, &BaseVariable::place);
  return variables;
}

std::optional<std::string> index_from_padded_base(const BasedIndex& index, std::uint64_t every, std::uint64_t more) {
  if (index.rest.empty()) return index.base;
  if (index.rest_bits < every) return fmt::format("{} + {}", index.base, as_summand(index.rest));
  const auto factors = multiple(index.rest);
  if (!factors || factors->second % every != 0) return std::nullopt;
  return fmt::format("{} + {} * {}", index.base, factors->first, factors->second + factors->second / every * more);
}

}  // namespace bankwise::fit
