#include "bankcheck/fit/base_variables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <set>
#include <vector>

#include <bankwise/support/text.hpp>
#include "bankcheck/fit/expressions.hpp"
#include "bankcheck/fit/uses.hpp"
#include "bankcheck/fit/value_ranges.hpp"

namespace bankwise::fit {
namespace {

using source::SourceTokens;

/// The operands of + or | at the outermost level of an index; nothing if it has other operators there.
std::vector<Span> operands_of(const Ranges& code, Span index) {
  while (code.is(index.begin, "(") && code.past_bracket(index.begin) == index.end)
    index = {index.begin + 1, index.end - 1};
  if (code.next_outside(index.begin, index.end, "<>&^?,=!-") < index.end) return {};
  const bool is_or = code.next_outside(index.begin, index.end, "|") < index.end;
  std::vector<Span> operands;
  for (std::size_t begin = index.begin; begin <= index.end; begin = operands.back().end + 1) {
    operands.push_back({begin, code.next_outside(begin, index.end, is_or ? "|" : "+")});
    if (operands.back().size() == 0) return {};
  }
  return operands;
}

/// An index as the sum of a variable and a rest.
struct Sum {
  std::size_t base = 0;  ///< its token
  BasedIndex index;
};

/// With the operand of this number as the variable.
std::optional<Sum> sum_with(const Ranges& code, Span index, const std::vector<Span>& operands, std::size_t number) {
  const Span& base = operands[number];
  if (base.size() != 1 || !code.is_name(base.begin) || operands.size() > 2) return std::nullopt;
  const auto assigned = code.only_assignment(base.begin);
  const auto values = code.of(base);
  if (!assigned || *assigned > base.begin || !values || values->low < 0) return std::nullopt;
  Sum sum{base.begin, {code.tokens[index.begin - 1].begin, code.text_of(base), "", 0, 0}};
  if (operands.size() == 2) {
    const Span& rest = operands[1 - number];
    const auto range = code.of(rest);
    if (!range || range->low < 0 || (range->possible_bits() & values->possible_bits()) != 0) return std::nullopt;
    sum.index.rest = code.text_of(rest);
    sum.index.rest_bits = range->possible_bits();
  }
  return sum;
}

std::optional<Sum> sum_of(const Ranges& code, Span index) {
  const std::vector<Span> operands = operands_of(code, index);
  for (std::size_t number = 0; number < operands.size(); ++number) {
    if (const auto sum = sum_with(code, index, operands, number)) return sum;
  }
  return std::nullopt;
}

std::size_t statement_begin(const SourceTokens& code, std::size_t i) {
  while (i > 0 && !ends_statement(code, i - 1)) --i;
  return i;
}

/// Whether a token only declares a name, without a value: `int a, b;`.
bool only_declares(const SourceTokens& code, std::size_t name) {
  for (std::size_t i = statement_begin(code, name); i < name; ++i) {
    if (code.is(i, "(")) return false;
  }
  const bool follows = code.is(name - 1, ",") || (code.is_name(name - 1) && !code.is(name - 1, "return"));
  return follows && (code.is(name + 1, ",") || code.is(name + 1, ";"));
}

/// Whether a statement from one token to before another one declares a variable that can be changed, and holds an int.
bool is_ordinary_type(const SourceTokens& code, std::size_t begin, std::size_t end) {
  constexpr std::string_view others =
      "const constexpr char short uchar ushort uint8_t int8_t uint16_t int16_t __shared__ volatile static";
  for (std::size_t i = begin; i < end; ++i) {
    if (support::has_word(others, code.text(i)) || code.is(i, "*") || code.is(i, "&")) return false;
  }
  return end > begin;
}

/// Where a statement that changes the variable can follow its assignment; nothing if the variable is used elsewhere, or
/// if that is not certain. `bases`: the tokens of the variable in indices.
std::optional<std::size_t> place_behind_assignment(const Ranges& code, const std::set<std::size_t>& bases) {
  const std::size_t first = *bases.begin(), assigned = *code.only_assignment(first);
  const std::size_t begin = statement_begin(code, assigned);
  std::size_t end = assigned, declared = 0;
  while (end < code.tokens.size() && !code.is(end, ";")) ++end;
  for (std::size_t i = begin; i < assigned; ++i) {  // the head of a loop, a branch, a label
    if (code.is(i, "(") || code.is(i, ":") || code.is(i, "else") || code.is(i, "do")) return std::nullopt;
  }
  if (code.is_name(assigned - 1)) declared = assigned;
  const Span function = code.function_at(first);
  std::size_t block = function.begin;  // the innermost one around the assignment
  for (std::size_t i = function.begin; i < function.end; ++i) {
    if (code.is(i, "{") && i < assigned && code.past_bracket(i) > assigned) block = i;
    const bool is_other = !code.is(i, code.text(first)) || code.is(i - 1, ".") || code.is(i - 1, "->");
    if (is_other || i == assigned || bases.contains(i)) continue;
    if (i > assigned || !only_declares(code, i)) return std::nullopt;
    declared = i;
  }
  const bool is_known = declared > 0 && is_ordinary_type(code, statement_begin(code, declared), declared);
  const bool follow = *bases.begin() > end && *bases.rbegin() < code.past_bracket(block) && code.is(block, "{");
  return is_known && follow ? std::optional(code.tokens[end].end) : std::nullopt;
}

/// A text as a summand.
std::string as_summand(const std::string& text) {
  const SourceTokens code(text);
  int depth = 0;
  for (std::size_t i = 0; i < code.tokens.size(); ++i) {
    depth += int(code.is(i, "(") || code.is(i, "[")) - int(code.is(i, ")") || code.is(i, "]"));
    if (depth == 0 && support::has_word("< > & | ^ ? : = ,", code.text(i))) return fmt::format("({})", text);
  }
  return text;
}

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
std::optional<std::uint64_t> constant_of(const Ranges& code, Span index, const SourceConstants& of_source) {
  if (index.size() != 1 || !code.is_name(index.begin)) return std::nullopt;
  const std::string name = code.text_of(index);
  const auto here = code.of(index);
  const auto value = of_source.value_of(name);
  const auto is_other = [&](const SourceConstants& other) { return other.value_of(name) != value; };
  const bool is_known = value && here && here->low == here->high && std::uint64_t(here->low) == *value;
  return is_known && std::ranges::none_of(of_source.other_branches(), is_other) ? value : std::nullopt;
}

}  // namespace

void find_base_variables(Declaration& declaration, std::string_view source, const SourceConstants& constants,
                         const SourceConstants& of_source, const std::array<std::uint64_t, 3>& block) {
  const bool is_line = declaration.dimensions.size() == 1 && declaration.hidden_lines.empty() &&
                       declaration.tied.empty() && declaration.macros.empty();
  if (!is_line) return;
  const Uses uses = uses_of(source, declaration, true);
  if (!uses.why.empty() || !uses.pointers.empty() || !uses.parameters.empty()) return;
  const Ranges code(source, constants, block);
  std::map<std::string, std::vector<Sum>> by_base;
  for (const Use& use : uses.uses) {
    const auto place = std::ranges::lower_bound(code.tokens, use.begin, {}, &source::Token::begin);
    const auto open = std::size_t(place - code.tokens.begin());
    if (!use.array.empty() || code.past_bracket(open) < open + 3) continue;
    const Span index{open + 1, code.past_bracket(open) - 1};
    const auto value = constant_of(code, index, of_source);
    if (value) declaration.constant_indices.push_back({use.begin, *value});
    const auto sum = value ? std::nullopt : sum_of(code, index);
    if (sum) by_base[sum->index.base].push_back(*sum);
  }
  for (auto& [base, sums] : by_base) {
    std::set<std::size_t> bases;
    for (const Sum& sum : sums) bases.insert(sum.base);
    const auto assigned = place_behind_assignment(code, bases);
    if (!assigned) continue;
    for (Sum& sum : sums) {
      sum.index.assigned = *assigned;
      declaration.based_indices.push_back(std::move(sum.index));
    }
  }
}

std::optional<std::string> index_from_padded_base(const BasedIndex& index, std::uint64_t every, std::uint64_t more) {
  if (index.rest.empty()) return index.base;
  if (index.rest_bits < every) return fmt::format("{} + {}", index.base, as_summand(index.rest));
  const auto factors = multiple(index.rest);
  if (!factors || factors->second % every != 0) return std::nullopt;
  return fmt::format("{} + {} * {}", index.base, factors->first, factors->second + factors->second / every * more);
}

std::string padding_of_base(const std::string& base, std::uint64_t every, std::uint64_t more) {
  const std::string quotient = fmt::format("{} >> {}", base, std::countr_zero(every));
  return more == 1 ? fmt::format("{} += {};", base, quotient) : fmt::format("{} += ({}) * {};", base, quotient, more);
}

}  // namespace bankwise::fit
