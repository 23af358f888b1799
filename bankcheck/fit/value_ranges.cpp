#include "bankcheck/fit/value_ranges.hpp"

#include <algorithm>
#include <bit>
#include <string>
#include <utility>

#include "bankcheck/fit/index_terms.hpp"
#include "bankcheck/predict/predict.hpp"

namespace bankwise::fit {
namespace {

/// The power of two that a value always is.
std::optional<unsigned> exponent_of(const Range& range) {
  const bool is_power = range.low == range.high && range.low > 0 && std::has_single_bit(std::uint64_t(range.low));
  return is_power ? std::optional(unsigned(std::countr_zero(std::uint64_t(range.low)))) : std::nullopt;
}

std::optional<Range> multiplied(const Range& a, const Range& b) {
  constexpr std::int64_t max_factor = std::int64_t{1} << 20;
  for (const std::int64_t factor : {a.low, a.high, b.low, b.high}) {
    if (factor > max_factor || factor < -max_factor) return std::nullopt;
  }
  const auto [low, high] = std::minmax({a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high});
  Range product{low, high};
  if (const auto shift = exponent_of(b)) product.bits = a.possible_bits() << *shift;
  if (const auto shift = exponent_of(a)) product.bits = b.possible_bits() << *shift;
  return checked(product);
}

Range masked(const Range& a, const Range& b) {
  const std::int64_t high = a.low < 0 ? b.high : b.low < 0 ? a.high : std::min(a.high, b.high);
  return {0, high, a.possible_bits() & b.possible_bits()};
}

/// Of numbers that are not negative.
std::optional<Range> shifted(std::string_view mark, const Range& a, const Range& b) {
  constexpr std::int64_t max_shift = 20;
  if (b.high > max_shift || a.high > (std::int64_t{1} << max_shift)) return std::nullopt;
  const std::uint64_t all = ~std::uint64_t{0}, bits = a.possible_bits();
  const bool is_known = b.low == b.high;
  if (mark == "<<") return checked({a.low << b.low, a.high << b.high, is_known ? bits << b.low : all});
  if (mark == ">>") return Range{a.low >> b.high, a.high >> b.low, is_known ? bits >> b.low : all};
  return std::nullopt;
}

/// What a block has in a dimension, "x" or "0"; 0: not known.
std::uint64_t length_in(const Ranges::Block& block, std::string_view dimension) {
  for (const std::string_view letters : {"xyz", "012"}) {
    const std::size_t d = letters.find(dimension);
    if (d != std::string_view::npos && dimension.size() == 1) return block[d];
  }
  return 0;
}

}  // namespace

std::optional<Range> checked(const Range& range) {
  const bool is_sane = range.low <= range.high && range.low > -max_value && range.high < max_value;
  return is_sane ? std::optional(range) : std::nullopt;
}

std::uint64_t Range::possible_bits() const {
  if (low < 0) return ~std::uint64_t{0};
  if (low == high) return std::uint64_t(low);
  return bits & (std::bit_ceil(std::uint64_t(high) + 1) - 1);
}

std::optional<Range> combined(std::string_view mark, const Range& a, const Range& b) {
  const bool are_natural = a.low >= 0 && b.low >= 0;
  const std::uint64_t either = a.possible_bits() | b.possible_bits(), both = a.possible_bits() & b.possible_bits();
  if (mark == "+") return checked({a.low + b.low, a.high + b.high, both == 0 ? either : ~std::uint64_t{0}});
  if (mark == "-") return checked({a.low - b.high, a.high - b.low});
  if (mark == "*") return multiplied(a, b);
  if (mark == "&") return b.low >= 0 || are_natural ? std::optional(masked(a, b)) : std::nullopt;
  if (!are_natural) return std::nullopt;
  const auto shift = exponent_of(b);
  if (mark == "/" && b.low > 0) {
    return Range{a.low / b.high, a.high / b.low, shift ? a.possible_bits() >> *shift : ~std::uint64_t{0}};
  }
  if (mark == "%" && b.low > 0)
    return a.high < b.low ? a : Range{0, b.high - 1, shift ? a.possible_bits() : ~std::uint64_t{0}};
  if (mark == "^" || mark == "|") {
    return checked({0, std::int64_t(std::bit_ceil(std::uint64_t(std::max(a.high, b.high)) + 1)) - 1, either});
  }
  return shifted(mark, a, b);
}

std::optional<Range> Ranges::of(Part part) const {
  if (depth_ > max_depth || part.begin >= part.end) return std::nullopt;
  ++depth_;
  std::size_t at = part.begin;
  auto range = binary(0, at, part.end);
  if (at != part.end) range.reset();
  if (const auto sum = range ? compared_sum(part) : std::nullopt) {
    range = checked({std::max(range->low, sum->low), std::min(range->high, sum->high), range->bits});
  }
  --depth_;
  return range;
}

std::string_view Ranges::operator_at(std::size_t i, int level, std::size_t& length) const {
  constexpr std::array<std::string_view, 6> marks{"|", "^", "&", "", "+-", "*/%"};
  length = 1;
  if (level == 3) {
    length = 2;
    return is_pair(i, "<") ? "<<" : is_pair(i, ">") ? ">>" : "";
  }
  const std::string_view mark = text(i);
  const bool is_double = touches_next(i) && (is(i + 1, mark) || is(i + 1, "="));
  return is_any(i, marks[std::size_t(level)]) && !is_double ? mark : "";
}

std::optional<Range> Ranges::binary(int level, std::size_t& at, std::size_t end) const {
  constexpr int tightest = 5;
  if (level > tightest) return unary(at, end);
  auto left = binary(level + 1, at, end);
  std::size_t length = 1;
  while (left && at < end) {
    const std::string_view mark = operator_at(at, level, length);
    if (mark.empty()) break;
    at += length;
    const auto right = binary(level + 1, at, end);
    left = right ? combined(mark, *left, *right) : std::nullopt;
  }
  return left;
}

bool Ranges::is_type(std::size_t i) const {
  return predict::bytes_of_type(std::string(text(i))) > 0 || predict::is_decoration(text(i));
}

std::optional<Range> Ranges::unary(std::size_t& at, std::size_t end) const {
  if (at >= end) return std::nullopt;
  if (is(at, "-") && !is_pair(at, "-")) {
    const auto range = unary(++at, end);
    return range ? std::optional(Range{-range->high, -range->low}) : std::nullopt;
  }
  if (is(at, "(")) {
    const std::size_t behind = past_bracket(at);
    bool is_cast = behind > at + 2;
    for (std::size_t i = at + 1; i + 1 < behind; ++i) is_cast = is_cast && is_type(i);
    if (is_cast) return unary(at = behind, end);
    const auto range = of({at + 1, behind - 1});
    at = behind;
    return range;
  }
  if (tokens[at].kind == source::TokenKind::number) return number(at++);
  return is_name(at) ? named(at, end) : std::nullopt;
}

std::optional<Range> Ranges::number(std::size_t i) const {
  std::string digits(text(i));
  digits.resize(digits.find_last_not_of("uUlL") + 1);
  const bool is_hexadecimal = digits.starts_with("0x") && digits.size() > 2;
  const std::string_view valid = is_hexadecimal ? "0123456789abcdefABCDEF" : "0123456789";
  constexpr std::size_t max_digits = 9;
  if (digits.find_first_not_of(valid, is_hexadecimal ? 2 : 0) != std::string::npos || digits.empty() ||
      digits.size() > max_digits) {
    return std::nullopt;
  }
  const std::int64_t value = std::stoll(digits, nullptr, 0);
  return Range{value, value};
}

std::optional<Range> Ranges::named(std::size_t& at, std::size_t end) const {
  const std::size_t name = at;
  if (is(at + 1, "(")) {
    at = past_bracket(name + 1);
    return at <= end ? call(name, at) : std::nullopt;
  }
  if (is(name, "threadIdx") && is(at + 1, ".")) {
    at += 3;
    return thread(name, {name, name + 3}, text(name + 2));
  }
  if (is(name, "blockDim") && is(at + 1, ".")) {
    at += 3;
    return block_length(text(name + 2));
  }
  ++at;
  const bool is_part = is_any(at, ".[<") || is(at, "->") || is(at, "::");
  return is_part && !is_pair(at, "<") ? std::nullopt : variable(name);
}

std::optional<Range> Ranges::call(std::size_t name, std::size_t behind) const {
  const std::size_t first = name + 2;
  if (is_type(name)) return of({first, behind - 1});
  if (is(name, "get_local_id") && behind == first + 2) return thread(name, {name, behind}, text(first));
  if (is(name, "get_local_size") && behind == first + 2) return block_length(text(first));
  if (!is(name, "min") && !is(name, "max")) return std::nullopt;
  const std::size_t comma = next_outside(first, behind, ",");
  const auto a = of({first, comma}), b = of({comma + 1, behind - 1});
  if (!a || !b) return std::nullopt;
  return is(name, "min") ? Range{std::min(a->low, b->low), std::min(a->high, b->high)}
                         : Range{std::max(a->low, b->low), std::max(a->high, b->high)};
}

std::optional<Range> Ranges::block_length(std::string_view dimension) const {
  const auto length = std::int64_t(length_in(only_block_, dimension));
  return length == 0 ? std::nullopt : std::optional(Range{length, length});
}

std::optional<Range> Ranges::thread(std::size_t place, Part key, std::string_view dimension) const {
  const std::uint64_t length = length_in(block_, dimension);
  return length == 0 ? std::nullopt : refined({0, std::int64_t(length) - 1}, key, place);
}

std::optional<Range> Ranges::compared_sum(Part part) const {
  part = inner(part);
  if (next_outside(part.begin, part.end, "*/%") < part.end) return std::nullopt;
  const std::vector<Term> terms = terms_of(*this, part);  // of one factor each
  const auto is_variable = [&](const Term& term, bool is_negative) {
    const Part name = term.factors.front();
    return term.is_negative == is_negative && name.size() == 1 && is_name(name.begin);
  };
  // lesser - greater is at most 0, and the other terms are added
  const auto sum_with = [&](const Term& lesser, const Term& greater) -> std::optional<Range> {
    const auto low = of(lesser.factors.front()), high = of(greater.factors.front());
    std::optional<Range> sum = low && high ? checked({low->low - high->high, 0}) : std::nullopt;
    for (const Term& other : terms) {
      if (&other == &lesser || &other == &greater) continue;
      const auto value = sum ? of(other.factors.front()) : std::nullopt;
      sum = value ? combined(other.is_negative ? "-" : "+", *sum, *value) : std::nullopt;
    }
    return sum;
  };
  std::optional<Range> best;
  for (const Term& lesser : terms) {
    for (const Term& greater : terms) {
      if (!is_variable(lesser, false) || !is_variable(greater, true)) continue;
      if (!is_at_most(lesser.factors.front().begin, greater.factors.front().begin)) continue;
      const auto sum = sum_with(lesser, greater);
      if (sum) best = best ? Range{std::max(best->low, sum->low), std::min(best->high, sum->high)} : *sum;
    }
  }
  return best;
}

bool Ranges::is_at_most(std::size_t x, std::size_t y) const {
  const Part function = function_at(x);
  for (const Control& control : controls_around(x)) {
    const Part& head = control.head;
    if (control.is_loop || control.is_else || next_outside(head.begin, head.end, "|?") < head.end) continue;
    if (!writings(text(x), control.body, function).empty() || !writings(text(y), control.body, function).empty()) {
      continue;
    }
    for (std::size_t begin = head.begin, end = 0; begin < head.end; begin = end + 2) {
      end = next_outside(begin, head.end, "&");
      const bool has_equal = is(begin + 2, "="), is_less = is(begin + 1, "<"), is_greater = is(begin + 1, ">");
      const std::size_t last = begin + (has_equal ? 3 : 2);
      if (last + 1 != end || !(is_less || is_greater)) continue;
      const bool is_in_order = is(begin, text(x)) && is(last, text(y));
      const bool is_reversed = is(begin, text(y)) && is(last, text(x));
      if ((is_less && is_in_order) || (is_greater && is_reversed)) return true;
    }
  }
  return false;
}

}  // namespace bankwise::fit
