#include "bankcheck/fit/flat_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <optional>
#include <set>
#include <utility>

#include "bankcheck/fit/macros.hpp"
#include "bankcheck/fit/uses.hpp"
#include "bankcheck/predict/predict.hpp"
#include "bankcheck/source/tokens.hpp"

namespace bankwise::fit {
namespace {

using source::SourceTokens;

/// From the token `begin` to before `end`.
struct Span {
  std::size_t begin = 0, end = 0;
  std::size_t size() const { return end - begin; }
  bool contains(std::size_t i) const { return i >= begin && i < end; }
};

/// The values that an expression can have.
struct Range {
  std::int64_t low = 0, high = 0;
};

constexpr std::int64_t max_value = std::int64_t{1} << 40;

std::optional<Range> checked(Range range) {
  const bool is_sane = range.low <= range.high && range.low > -max_value && range.high < max_value;
  return is_sane ? std::optional(range) : std::nullopt;
}

std::optional<Range> multiplied(Range a, Range b) {
  constexpr std::int64_t max_factor = std::int64_t{1} << 20;
  for (const std::int64_t factor : {a.low, a.high, b.low, b.high}) {
    if (factor > max_factor || factor < -max_factor) return std::nullopt;
  }
  const auto [low, high] = std::minmax({a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high});
  return checked({low, high});
}

std::optional<Range> combined(std::string_view mark, Range a, Range b) {
  const bool are_natural = a.low >= 0 && b.low >= 0;
  if (mark == "+") return checked({a.low + b.low, a.high + b.high});
  if (mark == "-") return checked({a.low - b.high, a.high - b.low});
  if (mark == "*") return multiplied(a, b);
  if (mark == "&") {
    if (!are_natural && b.low >= 0) return Range{0, b.high};
    return are_natural ? std::optional(Range{0, std::min(a.high, b.high)}) : std::nullopt;
  }
  if (!are_natural) return std::nullopt;
  if (mark == "/" && b.low > 0) return Range{a.low / b.high, a.high / b.low};
  if (mark == "%" && b.low > 0) return a.high < b.low ? a : Range{0, b.high - 1};
  if (mark == "^" || mark == "|") {
    return checked({0, std::int64_t(std::bit_ceil(std::uint64_t(std::max(a.high, b.high)) + 1)) - 1});
  }
  constexpr std::int64_t max_shift = 20;
  if (b.high > max_shift || a.high > (std::int64_t{1} << max_shift)) return std::nullopt;
  if (mark == "<<") return checked({a.low << b.low, a.high << b.high});
  if (mark == ">>") return Range{a.low >> b.high, a.high >> b.low};
  return std::nullopt;
}

/// A loop, or one branch of a condition.
struct Control {
  bool is_loop = false, is_else = false;
  Span head, body;  // the head without its parentheses
};

/// The ranges of expressions in the functions of a source.
class Ranges : public SourceTokens {
 public:
  Ranges(std::string_view text_of_source, const SourceConstants& constants, const std::array<std::uint64_t, 3>& block)
      : SourceTokens(text_of_source), constants_(constants), block_(block) {}

  const SourceConstants& constants() const { return constants_; }

  /// What the expression can be, as often as the source gets there; nothing if that is not known.
  std::optional<Range> of(Span part) const {
    if (depth_ > max_depth || part.begin >= part.end) return std::nullopt;
    ++depth_;
    std::size_t at = part.begin;
    auto range = binary(0, at, part.end);
    if (at != part.end) range.reset();
    if (const auto sum = range ? compared_sum(part) : std::nullopt) {
      range = checked({std::max(range->low, sum->low), std::min(range->high, sum->high)});
    }
    --depth_;
    return range;
  }

  /// Whether a token is one of these marks of one character.
  bool is_any(std::size_t i, std::string_view marks) const {
    return text(i).size() == 1 && marks.find(text(i)) != std::string_view::npos;
  }

  /// The first of these marks that is in no bracket; `end` if there is none before.
  std::size_t next_outside(std::size_t i, std::size_t end, std::string_view marks) const {
    while (i < end && !is_any(i, marks)) i = is_any(i, "([{") ? past_bracket(i) : i + 1;
    return std::min(i, end);
  }

 private:
  static constexpr int max_depth = 12;

  bool touches_next(std::size_t i) const { return i + 1 < tokens.size() && tokens[i].end == tokens[i + 1].begin; }

  /// Whether a mark stands at a token twice, as in ++.
  bool is_pair(std::size_t i, std::string_view mark) const { return is(i, mark) && is(i + 1, mark) && touches_next(i); }

  /// The operator at a token, by how tightly it binds: 0 for |, 5 for *; its length in tokens is set.
  std::string_view operator_at(std::size_t i, int level, std::size_t& length) const {
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

  std::optional<Range> binary(int level, std::size_t& at, std::size_t end) const {
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

  bool is_type(std::size_t i) const {
    return predict::bytes_of_type(std::string(text(i))) > 0 || predict::is_decoration(text(i));
  }

  std::optional<Range> unary(std::size_t& at, std::size_t end) const {
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

  std::optional<Range> number(std::size_t i) const {
    std::string digits(text(i));
    digits.resize(digits.find_last_not_of("uUlL") + 1);
    if (digits.find_first_not_of("0123456789") != std::string::npos || digits.empty() || digits.size() > 9) {
      return std::nullopt;
    }
    const std::int64_t value = std::stoll(digits, nullptr, digits.size() > 1 && digits[0] == '0' ? 8 : 10);
    return Range{value, value};
  }

  std::optional<Range> named(std::size_t& at, std::size_t end) const {
    const std::size_t name = at;
    if (is(at + 1, "(")) {
      at = past_bracket(name + 1);
      return at <= end ? call(name, at) : std::nullopt;
    }
    if (is(name, "threadIdx") && is(at + 1, ".")) {
      at += 3;
      return thread(name, {name, name + 3}, text(name + 2));
    }
    ++at;
    const bool is_part = is_any(at, ".[<") || is(at, "->") || is(at, "::");
    return is_part && !is_pair(at, "<") ? std::nullopt : variable(name);
  }

  /// A conversion or a call, from its name to before `behind`.
  std::optional<Range> call(std::size_t name, std::size_t behind) const {
    const std::size_t first = name + 2;
    if (is_type(name)) return of({first, behind - 1});
    if (is(name, "get_local_id") && behind == first + 2) return thread(name, {name, behind}, text(first));
    if (!is(name, "min") && !is(name, "max")) return std::nullopt;
    const std::size_t comma = next_outside(first, behind, ",");
    const auto a = of({first, comma}), b = of({comma + 1, behind - 1});
    if (!a || !b) return std::nullopt;
    return is(name, "min") ? Range{std::min(a->low, b->low), std::min(a->high, b->high)}
                           : Range{std::max(a->low, b->low), std::max(a->high, b->high)};
  }

  std::optional<Range> thread(std::size_t place, Span key, std::string_view dimension) const {
    constexpr std::array<std::string_view, 2> names{"xyz", "012"};
    for (const std::string_view letters : names) {
      const std::size_t d = letters.find(dimension);
      if (d == std::string_view::npos || dimension.size() != 1 || block_[d] == 0) continue;
      return refined({0, std::int64_t(block_[d]) - 1}, key, place);
    }
    return std::nullopt;
  }

  /// Of a sum with x and -y, where a condition around it says that x is at most y.
  std::optional<Range> compared_sum(Span part) const {
    struct Summand {
      Span span;
      bool is_negative = false, is_name = false;
    };
    if (next_outside(part.begin, part.end, "<>&|^?,=!*/%") < part.end) return std::nullopt;
    std::vector<Summand> summands;
    for (std::size_t begin = part.begin, end = 0; begin <= part.end; begin = end + 1) {
      end = next_outside(begin, part.end, "+-");
      if (begin == end) return std::nullopt;  // a sign
      const bool is_negative = begin > part.begin && is(begin - 1, "-");
      summands.push_back({{begin, end}, is_negative, end == begin + 1 && is_name(begin)});
    }
    std::optional<Range> best;
    for (const Summand& x : summands) {
      for (const Summand& y : summands) {
        if (!x.is_name || !y.is_name || x.is_negative || !y.is_negative) continue;
        if (!is_at_most(x.span.begin, y.span.begin)) continue;
        const auto low = of(x.span), high = of(y.span);
        std::optional<Range> sum = low && high ? checked({low->low - high->high, 0}) : std::nullopt;
        for (const Summand& other : summands) {
          if (&other == &x || &other == &y) continue;
          const auto value = sum ? of(other.span) : std::nullopt;
          sum = value ? combined(other.is_negative ? "-" : "+", *sum, *value) : std::nullopt;
        }
        if (sum) best = best ? Range{std::max(best->low, sum->low), std::min(best->high, sum->high)} : *sum;
      }
    }
    return best;
  }

  /// Whether a condition around two names compares them so, and neither changes behind it.
  bool is_at_most(std::size_t x, std::size_t y) const {
    const Span function = function_at(x);
    for (const Control& control : controls_around(x)) {
      const Span& head = control.head;
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

  // --- Variables ---

  /// From the parenthesis of its parameters to the end of the outermost function around a place.
  Span function_at(std::size_t place) const {
    const std::size_t body = function_body(place);
    if (body == 0) return {};
    return {opening(body - 1), past_bracket(body)};
  }

  /// Past the statement that begins at a token.
  std::size_t statement_end(std::size_t i) const {
    if (is(i, "{")) return past_bracket(i);
    if (is(i, "for") || is(i, "while") || is(i, "if") || is(i, "switch")) {
      const std::size_t end = statement_end(past_bracket(i + 1));
      return is(i, "if") && is(end, "else") ? statement_end(end + 1) : end;
    }
    return std::min(next_outside(i, tokens.size(), ";") + 1, tokens.size());
  }

  std::vector<Control> controls_around(std::size_t place) const {
    std::vector<Control> controls;
    const Span function = function_at(place);
    for (std::size_t i = function.begin; i < std::min(function.end, place); ++i) {
      if (!is(i, "for") && !is(i, "if")) continue;
      const std::size_t behind = past_bracket(i + 1);
      Control control{is(i, "for"), false, {i + 2, behind - 1}, {behind, 0}};
      control.body.end = is(behind, "{") ? past_bracket(behind) : statement_end(behind);
      if (control.body.contains(place)) controls.push_back(control);
      if (control.is_loop || !is(control.body.end, "else")) continue;
      control.is_else = true;
      control.body = {control.body.end + 1, statement_end(control.body.end + 1)};
      if (control.body.contains(place)) controls.push_back(control);
    }
    return controls;
  }

  /// How a name at a token is changed there.
  enum class Writing { none, assignment, step, unknown };
  Writing writing_at(std::size_t i, const Span& function) const {
    if (is(i - 1, ".") || is(i - 1, "->") || is(i - 1, "::")) return Writing::none;
    if (is_pair(i - 2, "+") || is_pair(i - 2, "-") || is_pair(i + 1, "+") || is_pair(i + 1, "-")) return Writing::step;
    if (is_referred_to(i)) return Writing::unknown;
    if (is(i + 1, "=") && !is(i + 2, "=")) return Writing::assignment;
    if (is_any(i + 1, "+-*/%&|^") && is(i + 2, "=") && touches_next(i + 1)) return Writing::step;
    if ((is_pair(i + 1, "<") || is_pair(i + 1, ">")) && is(i + 3, "=") && touches_next(i + 2)) return Writing::step;
    return is_declared_or_passed(i, function) ? Writing::unknown : Writing::none;
  }

  /// Whether a pointer or a reference to a name is made at a token.
  bool is_referred_to(std::size_t i) const {
    const bool follows_operand =
        is_name(i - 2) || is_any(i - 2, ")]") || (i >= 2 && tokens[i - 2].kind == source::TokenKind::number);
    if (is(i - 1, "&") && (!follows_operand || is(i + 1, "="))) return true;
    return is(i - 1, "=") && is_name(i - 2) && is(i - 3, "&");  // int& other = name
  }

  /// Whether a name is declared without =, or is an argument of a function that may change it.
  bool is_declared_or_passed(std::size_t i, const Span& function) const {
    const bool is_declared = is_name(i - 1) && !is(i - 1, "return") && !is(i - 1, "else");
    if (is_declared && is_any(i + 1, "({:[")) return true;
    const auto open = is_any(i + 1, ",)") ? parenthesis_around(i, function) : std::nullopt;
    return open && (is_declared || (is_any(i - 1, "(,") && takes_references(text(*open - 1))));
  }

  /// The innermost parenthesis that is open at a token; nothing if its statement begins behind it.
  std::optional<std::size_t> parenthesis_around(std::size_t i, const Span& function) const {
    int depth = 0;
    for (std::size_t behind = i; behind > function.begin && !is_any(behind, ";{}"); --behind) {
      depth += int(is(behind - 1, ")")) - int(is(behind - 1, "("));
      if (depth < 0) return behind - 1;
    }
    return std::nullopt;
  }

  /// Whether a function of this source has parameters that are references.
  bool takes_references(std::string_view name) const {
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      if (!is(i, name) || !is(i + 1, "(") || !(is_name(i - 1) || is(i - 1, ">") || is(i - 1, "*"))) continue;
      const std::size_t behind = past_bracket(i + 1);
      for (std::size_t k = i + 2; k < behind; ++k) {
        if (is(k, "&")) return true;
      }
    }
    return false;
  }

  std::vector<std::size_t> writings(std::string_view name, Span part, const Span& function) const {
    std::vector<std::size_t> places;
    for (std::size_t i = part.begin; i < part.end; ++i) {
      if (is_name(i) && is(i, name) && writing_at(i, function) != Writing::none) places.push_back(i);
    }
    return places;
  }

  /// Any number if its values are not known: a mask may limit them.
  std::optional<Range> variable(std::size_t place) const {
    const auto range = known_variable(place);
    return range ? range : Range{-max_value / 2, max_value / 2};
  }

  std::optional<Range> known_variable(std::size_t place) const {
    const std::string_view name = text(place);
    const Span function = function_at(place);
    const auto places = writings(name, function, function);
    const auto is_unknown = [&](std::size_t i) { return writing_at(i, function) == Writing::unknown; };
    if (std::ranges::any_of(places, is_unknown)) return std::nullopt;
    if (places.empty()) {
      const auto value = constants_.value_of(std::string(name));
      if (name == "warpSize") return Range{32, 32};
      return value && *value < std::uint64_t(max_value)
                 ? std::optional(Range{std::int64_t(*value), std::int64_t(*value)})
                 : std::nullopt;
    }
    const auto controls = controls_around(place);
    const auto counts = [&](const Control& control) {
      return control.is_loop && !writings(name, control.head, function).empty();
    };
    const auto loop = std::find_if(controls.rbegin(), controls.rend(), counts);
    if (loop != controls.rend()) {
      const auto range = writings(name, loop->body, function).empty() ? loop_range(name, *loop) : std::nullopt;
      return range ? refined(*range, {place, place + 1}, place) : std::nullopt;
    }
    std::optional<Range> sum;
    for (const std::size_t assigned : places) {
      if (writing_at(assigned, function) != Writing::assignment) return std::nullopt;
      const auto value = of(value_after(assigned + 1));
      if (!value) return std::nullopt;
      sum = sum ? Range{std::min(sum->low, value->low), std::max(sum->high, value->high)} : *value;
    }
    return refined(*sum, {place, place + 1}, place);
  }

  /// What follows the = at a token, to the end of the declarator or the statement.
  Span value_after(std::size_t equals) const { return {equals + 1, next_outside(equals + 1, tokens.size(), ",;)")}; }

  /// Of `for (name = A; name < B; ++name)` and its like.
  std::optional<Range> loop_range(std::string_view name, const Control& loop) const {
    std::size_t first = loop.head.begin, second = 0;
    while (first < loop.head.end && !is(first, ";")) ++first;
    for (second = first + 1; second < loop.head.end && !is(second, ";");) ++second;
    std::optional<Range> begin;
    for (std::size_t i = loop.head.begin; i < first; ++i) {
      if (is(i, name) && is(i + 1, "=")) begin = of(value_after(i + 1));
    }
    if (!begin) return std::nullopt;
    int direction = 0;
    std::int64_t step = 0;
    for (std::size_t i = second + 1; i < loop.head.end; ++i) {
      if (!is(i, name)) continue;
      direction = direction_at(i, loop.head.end, begin->low >= 0);
      step = constant_step_at(i);
    }
    if (direction == 0) return std::nullopt;
    Range wide = direction > 0 ? Range{begin->low, max_value} : Range{-max_value, begin->high};
    limit(
        wide, {first + 1, second}, [&](std::size_t i) { return is(i, name) ? std::size_t{1} : 0; }, false);
    const bool counts_from_one_value = begin->low == begin->high && wide.high < max_value && wide.high >= wide.low;
    if (step > 0 && counts_from_one_value) wide.high -= (wide.high - wide.low) % step;
    return checked(wide);
  }

  /// What `name += 4` adds to the variable at a token, if that is a constant; otherwise 0.
  std::int64_t constant_step_at(std::size_t i) const {
    const bool is_sum = is(i + 1, "+") && is(i + 2, "=");
    const auto step = is_sum ? of(value_after(i + 2)) : std::nullopt;
    return step && step->low == step->high ? step->low : 0;
  }

  /// 1 if the step of a loop makes the variable at a token greater, -1 if less, 0 if that is not known.
  int direction_at(std::size_t i, std::size_t end, bool is_natural) const {
    const std::size_t mark = is_any(i + 1, "=,") || i + 1 >= end ? i - 2 : i + 1;
    const bool is_counted = is(mark, text(mark + 1));
    const auto step = is(mark, "+") && is(mark + 1, "=") ? of(value_after(mark + 1)) : std::nullopt;
    if (is_counted && is_any(mark, "+-")) return is(mark, "+") ? 1 : -1;
    if (step && step->low >= 0) return 1;
    if (!is_natural || (!is_counted && is_any(mark, "<>"))) return 0;
    return int(is_any(mark, "*<")) - int(is_any(mark, "/>"));
  }

  using KeyLength = std::function<std::size_t(std::size_t)>;  ///< of the key at a token; 0: it is another one

  /// Applies the comparisons of a condition, which all hold, or of which the only one does not.
  void limit(Range& range, Span condition, const KeyLength& key, bool is_negated) const {
    std::vector<Span> atoms;
    std::size_t begin = condition.begin;
    for (std::size_t i = condition.begin; i <= condition.end; ++i) {
      if (i < condition.end && is(i, "|") && is(i + 1, "|")) return;
      if (i < condition.end && is(i, "(")) {
        i = past_bracket(i) - 1;
        continue;
      }
      if (i < condition.end && !(is(i, "&") && is(i + 1, "&"))) continue;
      atoms.push_back({begin, i});
      begin = i + 2;
      ++i;
    }
    if (is_negated && atoms.size() != 1) return;
    for (Span atom : atoms) {
      while (is(atom.begin, "(") && past_bracket(atom.begin) == atom.end) atom = {atom.begin + 1, atom.end - 1};
      compare(range, atom, key, is_negated);
    }
  }
  void compare(Range& range, Span atom, const KeyLength& key, bool is_negated) const {
    const std::size_t mark = next_outside(atom.begin, atom.end, "<>=!");
    if (mark >= atom.end || (is(mark + 1, text(mark)) && !is(mark, "="))) return;  // a shift
    const bool has_equal = is(mark + 1, "=");
    const std::size_t behind = mark + (has_equal ? 2 : 1);
    const bool is_left = key(atom.begin) > 0 && atom.begin + key(atom.begin) == mark;
    const bool is_right = key(behind) > 0 && behind + key(behind) == atom.end;
    if (is_left == is_right || is(mark, "!")) return;
    const auto other = of(is_left ? Span{behind, atom.end} : Span{atom.begin, mark});
    if (!other) return;
    if (is(mark, "=")) {
      if (!is_negated) range = {std::max(range.low, other->low), std::min(range.high, other->high)};
      return;
    }
    const bool is_less = (is(mark, "<") == is_left) != is_negated;
    const std::int64_t gap = has_equal == is_negated ? 1 : 0;
    if (is_less) range.high = std::min(range.high, other->high - gap);
    if (!is_less) range.low = std::max(range.low, other->low + gap);
  }

  /// With the conditions around a place, if what they compare does not change there.
  std::optional<Range> refined(Range range, Span key, std::size_t place) const {
    const Span function = function_at(place);
    const std::size_t length = key.end - key.begin;
    const KeyLength is_key = [&](std::size_t i) {
      for (std::size_t k = 0; k < length; ++k) {
        if (!is(i + k, text(key.begin + k))) return std::size_t{0};
      }
      return length;
    };
    for (const Control& control : controls_around(place)) {
      if (control.is_loop) continue;
      if (length == 1 && !writings(text(key.begin), control.body, function).empty()) continue;
      limit(range, control.head, is_key, control.is_else);
    }
    return checked(range);
  }

  const SourceConstants& constants_;
  const std::array<std::uint64_t, 3>& block_;
  mutable int depth_ = 0;
};

/// A summand of an index, with its factors.
struct Term {
  bool is_negative = false;
  std::vector<Span> factors;
};

/// The factors of a summand: a quotient or a remainder is one as a whole. Nothing if one has a sign.
std::vector<Span> factors_of(const Ranges& code, Span summand) {
  std::vector<Span> factors;
  for (std::size_t begin = summand.begin; begin <= summand.end; begin = factors.back().end + 1) {
    const std::size_t end = code.next_outside(begin, summand.end, "*/%");
    if (begin == end) return {};
    if (code.is_any(end, "/%")) return {summand};
    factors.push_back({begin, end});
  }
  return factors;
}

/// The summands of an index; nothing if it is no sum at its outermost level.
std::vector<Term> terms_of(const Ranges& code, Span index) {
  while (code.is(index.begin, "(") && code.past_bracket(index.begin) == index.end)
    index = {index.begin + 1, index.end - 1};
  if (code.next_outside(index.begin, index.end, "<>&|^?,=!") < index.end) return {};
  std::vector<Term> terms;
  for (std::size_t begin = index.begin, end = 0; begin <= index.end; begin = end + 1) {
    end = code.next_outside(begin, index.end, "+-");
    terms.push_back({!terms.empty() && code.is(begin - 1, "-"), factors_of(code, {begin, end})});
    if (terms.back().factors.empty()) return {};
  }
  return terms;
}

std::string text_of(const Ranges& code, Span part) {
  const std::size_t begin = code.tokens[part.begin].begin;
  return std::string(code.source.substr(begin, code.tokens[part.end - 1].end - begin));
}

/// What commas separate in the parentheses that open at a token.
std::vector<Span> arguments_of(const Ranges& code, std::size_t open) {
  std::vector<Span> arguments;
  const std::size_t close = code.past_bracket(open) - 1;
  for (std::size_t begin = open + 1; begin <= close; begin = arguments.back().end + 1) {
    arguments.push_back({begin, code.next_outside(begin, close, ",")});
  }
  return arguments;
}

/// Whether an expression is one token, or in parentheses.
bool is_operand(const Ranges& code, Span part) {
  const bool is_enclosed = code.is(part.begin, "(") && code.past_bracket(part.begin) == part.end;
  return part.size() == 1 || is_enclosed;
}

/// The summands of `OFFSET(y, x, 16)`, of a macro whose text is a sum of products of its parameters: its arguments.
/// Nothing if the index is no such call.
std::vector<Term> terms_of_call(const Ranges& code, Span call, const std::vector<Macro>& macros) {
  const bool is_call =
      code.is_name(call.begin) && code.is(call.begin + 1, "(") && code.past_bracket(call.begin + 1) == call.end;
  const auto is_called = [&](const Macro& macro) { return macro.name == code.text(call.begin); };
  const auto macro = std::ranges::find_if(macros, is_called);
  if (!is_call || std::ranges::count_if(macros, is_called) != 1 || !macro->has_parameters) return {};
  const auto [parameters, definition] = parts_of(*macro);
  const std::vector<Span> arguments = arguments_of(code, call.begin + 1);
  const Ranges text(definition, code.constants(), {});
  std::vector<Term> terms = terms_of(text, {0, text.tokens.size()});
  for (Term& term : terms) {
    for (Span& factor : term.factors) {
      const bool is_enclosed = is_operand(text, factor) && factor.size() > 1;
      if (is_enclosed) factor = {factor.begin + 1, factor.end - 1};
      const auto parameter = std::ranges::find(parameters, text.text(factor.begin));
      const auto number = std::size_t(parameter - parameters.begin());
      if (factor.size() != 1 || number >= arguments.size()) return {};
      factor = arguments[number];
      if (factor.size() == 0 || (!is_enclosed && !is_operand(code, factor))) return {};
    }
  }
  return terms;
}

/// The value of an expression that has only one.
std::optional<std::int64_t> only_value(const Ranges& code, Span part) {
  const auto range = code.of(part);
  return range && range->low == range->high ? std::optional(range->low) : std::nullopt;
}

/// The product of the other factors of a summand.
std::string text_without(const Ranges& code, const Term& term, const Span& removed) {
  std::string text;
  for (const Span& factor : term.factors) {
    if (&factor == &removed) continue;
    const bool is_sum = code.next_outside(factor.begin, factor.end, "+-<>&|^?") < factor.end;  // an argument
    text += (text.empty() ? "" : " * ") + (is_sum ? fmt::format("({})", text_of(code, factor)) : text_of(code, factor));
  }
  return text.empty() ? "1" : text;
}

void append_summand(std::string& sum, bool is_negative, const std::string& text) {
  sum += sum.empty() ? (is_negative ? "-" : "") : is_negative ? " - " : " + ";
  sum += text;
}

/// An index, and its summands, as far as they are known.
struct Index {
  Span span;
  std::vector<Term> terms;
};

/// The index as a row and a column; nothing if it is not certain that the column lies in the row.
std::optional<RowIndex> row_index(const Ranges& code, const Index& index, std::int64_t pitch) {
  const Span& span = index.span;
  if (span.begin >= span.end) return std::nullopt;  // the source ends, or the brackets are empty
  RowIndex split{.begin = code.tokens[span.begin].begin, .end = code.tokens[span.end - 1].end};
  const std::vector<Term> terms = index.terms.empty() ? std::vector<Term>{{false, {span}}} : index.terms;
  const auto is_pitch = [&](const Span& factor) { return only_value(code, factor) == pitch; };
  Range column{0, 0};
  for (const Term& term : terms) {
    const auto place = std::ranges::find_if(term.factors, is_pitch);
    if (place == term.factors.end()) {
      const Span whole{term.factors.front().begin, term.factors.back().end};
      const auto range = code.of(whole);
      const auto sum = range ? combined(term.is_negative ? "-" : "+", column, *range) : std::nullopt;
      if (!sum) return std::nullopt;
      column = *sum;
      append_summand(split.column, term.is_negative, text_of(code, whole));
      continue;
    }
    append_summand(split.row, term.is_negative, text_without(code, term, *place));
    split.pitches.push_back({code.tokens[place->begin].begin, code.tokens[place->end - 1].end});
  }
  if (column.low < 0 || column.high >= pitch) return std::nullopt;
  if (split.row.empty()) split.row = "0";
  if (split.column.empty()) split.column = "0";
  return split;
}

/// With rows of this pitch; nothing if an index is not certain to be in them.
std::vector<RowIndex> row_indices_of(const Ranges& code, const std::vector<Index>& indices, std::int64_t pitch) {
  std::vector<RowIndex> splits;
  for (const Index& index : indices) {
    auto split = row_index(code, index, pitch);
    if (!split) return {};
    splits.push_back(std::move(*split));
  }
  return splits;
}

/// The factors in the indices that divide the length; long rows first.
std::set<std::int64_t, std::greater<>> pitches_in(const Ranges& code, const std::vector<Index>& indices,
                                                  std::int64_t length) {
  std::set<std::int64_t, std::greater<>> pitches;
  for (const Index& index : indices) {
    for (const Term& term : index.terms) {
      if (term.factors.size() < 2) continue;
      for (const Span& factor : term.factors) {
        const std::int64_t value = only_value(code, factor).value_or(0);
        if (value > 1 && value < length && length % value == 0) pitches.insert(value);
      }
    }
  }
  return pitches;
}

/// The constants, if the array has this length with them. A file that includes this one may define the only name that
/// is not known: it then has the value that gives the length.
std::optional<SourceConstants> with_length(const SourceConstants& constants, const std::string& dimension,
                                           std::uint64_t length) {
  constexpr int max_unknown = 1024;
  if (const auto value = constants.value_of(dimension)) {
    return *value == length ? std::optional(constants) : std::nullopt;
  }
  const std::string name = constants.unknown_in(dimension);
  if (name == dimension || source::tokens_of(name).size() != 1) return std::nullopt;
  for (int value = 1; value <= max_unknown; ++value) {
    SourceConstants all = constants;
    all.add(name, std::to_string(value));
    const auto product = all.value_of(dimension);
    if (!product || *product > length) return std::nullopt;
    if (*product == length) return all;
  }
  return std::nullopt;
}

/// A macro whose text is an element of an array: `#define AT(y, x) t[x + y * 17]`.
struct ElementMacro {
  std::string_view name;
  std::vector<std::string_view> parameters;
  std::string_view text;  // after the parameters
};

/// The only macro that names the array, if its text is one element; nothing otherwise.
std::optional<ElementMacro> element_macro(std::string_view source, const Declaration& declaration) {
  if (declaration.macros.size() != 1) return std::nullopt;
  for (const Macro& macro : macros_of(source)) {
    if (macro.line != declaration.macros.front().line || !macro.has_parameters) continue;
    const auto [parameters, text] = parts_of(macro);
    const SourceTokens code(text);
    if (!code.is(0, declaration.name) || !code.is(1, "[") || code.past_bracket(1) != code.tokens.size()) break;
    return ElementMacro{macro.name, parameters, text.substr(code.tokens.front().begin)};
  }
  return std::nullopt;
}

/// The index of a macro as a row, which is one parameter, and a column, which is another one.
struct MacroRows {
  std::size_t row = 0, column = 0;  // numbers of the parameters
  std::int64_t pitch = 0;
  RowIndex index;
};

std::optional<MacroRows> rows_of_macro(const ElementMacro& macro, std::string_view source,
                                       const SourceConstants& constants) {
  const Ranges code(macro.text, constants, {});
  const auto parameter = [&](Span span) {
    const auto place = std::ranges::find(macro.parameters, text_of(code, span));
    return std::size_t(place - macro.parameters.begin());  // the number of parameters if it is none
  };
  const std::size_t none = macro.parameters.size();
  const Span whole{2, code.tokens.size() - 1};
  const auto terms = terms_of(code, whole);
  if (terms.size() != 2 || terms[0].is_negative || terms[1].is_negative) return std::nullopt;
  const bool is_first = terms[0].factors.size() == 2;  // the row
  const Term &row = terms[is_first ? 0 : 1], &column = terms[is_first ? 1 : 0];
  if (row.factors.size() != 2 || column.factors.size() != 1) return std::nullopt;
  const bool is_pitch_first = parameter(row.factors[0]) == none;
  const Span &pitch = row.factors[is_pitch_first ? 0 : 1], &factor = row.factors[is_pitch_first ? 1 : 0];
  MacroRows rows{.row = parameter(factor), .column = parameter(column.factors[0])};
  rows.pitch = only_value(code, pitch).value_or(0);
  const bool is_split = rows.row < none && rows.column < none && rows.row != rows.column && rows.pitch > 1;
  if (!is_split || parameter(pitch) < none) return std::nullopt;
  const auto offset = std::size_t(macro.text.data() - source.data());
  const auto extract = [&](Span span) {
    return Extract{offset + code.tokens[span.begin].begin, offset + code.tokens[span.end - 1].end};
  };
  const Extract index = extract(whole);
  rows.index = {index.begin,
                index.end,
                fmt::format("({})", macro.parameters[rows.row]),
                fmt::format("({})", macro.parameters[rows.column]),
                {extract(pitch)}};
  return rows;
}

/// Whether all calls of the macro in the function around the array have columns of its rows.
bool has_certain_columns(const Ranges& code, const ElementMacro& macro, const MacroRows& rows, std::size_t declared) {
  const std::size_t body = code.function_body(declared), end = body == 0 ? 0 : code.past_bracket(body);
  bool is_called = false;
  for (std::size_t i = body; i < end; ++i) {
    if (!code.is(i, macro.name)) continue;
    if (!code.is(i + 1, "(")) return false;
    const std::vector<Span> arguments = arguments_of(code, i + 1);
    if (arguments.size() != macro.parameters.size()) return false;
    const Span& column = arguments[rows.column];
    const bool are_whole =
        is_operand(code, arguments[rows.row]) && (is_operand(code, column) || !terms_of(code, column).empty());
    const auto range = code.of(column);
    if (!are_whole || !range || range->low < 0 || range->high >= rows.pitch) return false;
    is_called = true;
  }
  return is_called;
}

/// Rows in the text of the macro through which all uses go.
void find_macro_rows(Declaration& declaration, std::string_view source, const SourceConstants& constants,
                     const std::array<std::uint64_t, 3>& block) {
  const auto macro = element_macro(source, declaration);
  const auto rows = macro ? rows_of_macro(*macro, source, constants) : std::nullopt;
  if (!rows || declaration.lengths.front() % std::uint64_t(rows->pitch) != 0) return;
  const Uses uses = uses_of(source, declaration, true);
  if (!uses.why.empty() || uses.uses.size() != 1) return;  // that of the macro
  const Ranges code(source, constants, block);
  const auto name = std::ranges::lower_bound(code.tokens, declaration.at, {}, &source::Token::begin);
  if (!has_certain_columns(code, *macro, *rows, std::size_t(name - code.tokens.begin()))) return;
  declaration.pitch = std::uint64_t(rows->pitch);
  declaration.row_indices = {rows->index};
}

}  // namespace

void find_flat_rows(Declaration& declaration, std::string_view source, const SourceConstants& constants,
                    const std::array<std::uint64_t, 3>& block) {
  const bool may_have_rows = declaration.dimensions.size() == 1 && declaration.lengths.size() == 1 &&
                             !declaration.dimensions.front().empty() && declaration.hidden_lines.empty() &&
                             std::ranges::all_of(declaration.tied, &Declaration::Tie::by_macro);
  // A macro of another branch would give another length.
  if (!may_have_rows) return;
  const auto known = with_length(constants, declaration.dimensions.front(), declaration.lengths.front());
  if (!known) return;
  if (!declaration.macros.empty()) return find_macro_rows(declaration, source, *known, block);
  const Uses uses = uses_of(source, declaration, true);
  if (!uses.why.empty() || uses.uses.empty() || !uses.pointers.empty()) return;
  const Ranges code(source, *known, block);
  const std::vector<Macro> macros = macros_of(source);
  std::vector<Index> indices;
  for (const Use& use : uses.uses) {
    const auto place = std::ranges::lower_bound(code.tokens, use.begin, {}, &source::Token::begin);
    const auto open = std::size_t(place - code.tokens.begin());
    const Span span{open + 1, code.past_bracket(open) - 1};
    std::vector<Term> terms = terms_of_call(code, span, macros);
    indices.push_back({span, terms.empty() ? terms_of(code, span) : std::move(terms)});
  }
  for (const std::int64_t pitch : pitches_in(code, indices, std::int64_t(declaration.lengths.front()))) {
    auto row_indices = row_indices_of(code, indices, pitch);
    if (row_indices.empty()) continue;
    declaration.pitch = std::uint64_t(pitch);
    declaration.row_indices = std::move(row_indices);
    return;
  }
}

}  // namespace bankwise::fit
