// The values of variables: their assignments, loops, and the conditions around a place.
#include <algorithm>
#include <bit>
#include <string>

#include "bankcheck/fit/expressions.hpp"
#include "bankcheck/fit/value_ranges.hpp"
#include "bankcheck/predict/predict.hpp"

namespace bankwise::fit {

bool may_hold_int(const std::string& type) {
  constexpr std::uint64_t bytes_of_int = 4;
  const std::uint64_t bytes = predict::bytes_of_type(type);
  const bool is_short = type.find('8') != type.npos || type.find("16") != type.npos;  // of another name, such as u8
  return bytes > 0 ? bytes >= bytes_of_int : !is_short;
}

Part Ranges::function_at(std::size_t place) const {
  const std::size_t body = function_body(place);
  if (body == 0) return {};
  return {opening(body - 1), past_bracket(body)};
}

std::vector<Control> Ranges::controls_around(std::size_t place) const {
  std::vector<Control> controls;
  const Part function = function_at(place);
  for (std::size_t i = function.begin; i < std::min(function.end, place); ++i) {
    if (!is(i, "for") && !is(i, "if")) continue;
    const std::size_t behind = past_bracket(i + 1);
    Control control{is(i, "for"), false, {i + 2, behind - 1}, {behind, statement_end(*this, behind)}};
    if (control.body.contains(place)) controls.push_back(control);
    if (control.is_loop || !is(control.body.end, "else")) continue;
    control.is_else = true;
    control.body = {control.body.end + 1, statement_end(*this, control.body.end + 1)};
    if (control.body.contains(place)) controls.push_back(control);
  }
  return controls;
}

Ranges::Writing Ranges::writing_at(std::size_t i, const Part& function) const {
  if (is_member(i)) return Writing::none;
  if (is_pair(i - 2, "+-") || is_pair(i + 1, "+-")) return Writing::step;
  if (is_referred_to(i)) return Writing::unknown;
  if (is(i + 1, "=") && !is(i + 2, "=")) return Writing::assignment;
  if (is_any(i + 1, "+-*/%&|^") && is(i + 2, "=") && touches_next(i + 1)) return Writing::step;
  if (is_pair(i + 1, "<>") && is(i + 3, "=") && touches_next(i + 2)) return Writing::step;
  return is_declared_or_passed(i, function) ? Writing::unknown : Writing::none;
}

bool Ranges::is_referred_to(std::size_t i) const {
  const bool follows_operand =
      is_name(i - 2) || is_any(i - 2, ")]") || (i >= 2 && tokens[i - 2].kind == source::TokenKind::number);
  if (is(i - 1, "&") && (!follows_operand || is(i + 1, "="))) return true;
  return is(i - 1, "=") && is_name(i - 2) && is(i - 3, "&");  // int& other = name
}

bool Ranges::is_declared_or_passed(std::size_t i, const Part& function) const {
  const bool is_declared = is_name(i - 1) && !is(i - 1, "return") && !is(i - 1, "else");
  if (is_declared && is_any(i + 1, "({:[")) return true;
  const auto open = is_any(i + 1, ",)") ? parenthesis_around(i, function) : std::nullopt;
  return open && (is_declared || (is_any(i - 1, "(,") && takes_references(text(*open - 1))));
}

std::optional<std::size_t> Ranges::parenthesis_around(std::size_t i, const Part& function) const {
  int depth = 0;
  for (std::size_t behind = i; behind > function.begin && !is_any(behind, ";{}"); --behind) {
    depth += int(is(behind - 1, ")")) - int(is(behind - 1, "("));
    if (depth < 0) return behind - 1;
  }
  return std::nullopt;
}

bool Ranges::takes_references(std::string_view name) const {
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (!is(i, name) || !is(i + 1, "(") || !(is_name(i - 1) || is(i - 1, ">") || is(i - 1, "*"))) continue;
    if (has_token(*this, {i + 2, past_bracket(i + 1)}, "&")) return true;
  }
  return false;
}

std::vector<std::size_t> Ranges::writings(std::string_view name, Part part, const Part& function) const {
  std::vector<std::size_t> places;
  for (std::size_t i = part.begin; i < part.end; ++i) {
    if (is_name(i) && is(i, name) && writing_at(i, function) != Writing::none) places.push_back(i);
  }
  return places;
}

std::optional<Range> Ranges::variable(std::size_t place) const {
  const std::string_view name = text(place);
  std::optional<Range> range;
  if (std::ranges::find(open_, name) == open_.end()) {
    open_.push_back(name);
    range = known_variable(place);
    open_.pop_back();
  }
  return range ? range : Range{-max_value / 2, max_value / 2};
}

std::optional<Range> Ranges::known_variable(std::size_t place) const {
  const std::string_view name = text(place);
  const Part function = function_at(place);
  const auto places = writings(name, function, function);
  const auto is_unknown = [&](std::size_t i) { return writing_at(i, function) == Writing::unknown; };
  if (std::ranges::any_of(places, is_unknown)) return std::nullopt;
  if (places.empty()) {
    const auto value = constants_.value_of(std::string(name));
    if (name == "warpSize") return Range{32, 32};
    if (!value) return macro_range(name);
    return *value < std::uint64_t(max_value) ? std::optional(Range{std::int64_t(*value), std::int64_t(*value)})
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
    if (sum) {
      sum = {std::min(sum->low, value->low), std::max(sum->high, value->high),
             sum->possible_bits() | value->possible_bits()};
    } else {
      sum = value;
    }
  }
  return refined(*sum, {place, place + 1}, place);
}

std::optional<Part> Ranges::definition_of(std::size_t name) const {
  const Part function = function_at(name);
  const auto writings_of = [&](std::size_t i) { return writings(text(i), function, function); };
  const auto places = is_name(name) ? writings_of(name) : std::vector<std::size_t>{};
  const bool is_defined = places.size() == 1 && places[0] < name && is_name(places[0] - 1) &&
                          may_hold_int(std::string(text(places[0] - 1))) &&
                          writing_at(places[0], function) == Writing::assignment;
  if (!is_defined) return std::nullopt;
  const Part value = value_after(places[0] + 1);
  for (std::size_t i = value.begin; i < value.end; ++i) {
    const bool changes = is_name(i) && !is(i - 1, ".") && writings_of(i).size() > 1;
    if (changes || is_any(i, "[]?{}\"'") || tokens[i].kind == source::TokenKind::text) return std::nullopt;
  }
  return value;
}

std::optional<Range> Ranges::loop_range(std::string_view name, const Control& loop) const {
  const std::vector<Part> head = split(loop.head, ";");
  if (head.size() != 3) return std::nullopt;
  std::optional<Range> begin;
  for (std::size_t i = head[0].begin; i < head[0].end; ++i) {
    if (is(i, name) && is(i + 1, "=")) begin = of(value_after(i + 1));
  }
  if (!begin) return std::nullopt;
  int direction = 0;
  std::int64_t step = 0;
  for (std::size_t i = head[2].begin; i < head[2].end; ++i) {
    if (!is(i, name)) continue;
    direction = direction_at(i, loop.head.end, begin->low >= 0);
    step = constant_step_at(i);
  }
  if (direction == 0) return std::nullopt;
  Range wide = direction > 0 ? Range{begin->low, max_value} : Range{-max_value, begin->high};
  limit(
      wide, head[1], [&](std::size_t i) { return std::size_t{is(i, name)}; }, false);
  const bool counts_from_one_value = begin->low == begin->high && wide.high < max_value && wide.high >= wide.low;
  if (step > 0 && counts_from_one_value) {
    wide.high -= (wide.high - wide.low) % step;
    if (begin->low >= 0) wide.bits <<= std::countr_zero(std::uint64_t(begin->low | step));
  }
  return checked(wide);
}

std::int64_t Ranges::constant_step_at(std::size_t i) const {
  const bool is_sum = is(i + 1, "+") && is(i + 2, "=");
  const auto step = is_sum ? of(value_after(i + 2)) : std::nullopt;
  return step && step->low == step->high ? step->low : 0;
}

int Ranges::direction_at(std::size_t i, std::size_t end, bool is_natural) const {
  const std::size_t mark = is_any(i + 1, "=,") || i + 1 >= end ? i - 2 : i + 1;
  const bool is_counted = is(mark, text(mark + 1));
  const auto step = is(mark, "+") && is(mark + 1, "=") ? of(value_after(mark + 1)) : std::nullopt;
  if (is_counted && is_any(mark, "+-")) return is(mark, "+") ? 1 : -1;
  if (step && step->low >= 0) return 1;
  if (!is_natural || (!is_counted && is_any(mark, "<>"))) return 0;
  return int(is_any(mark, "*<")) - int(is_any(mark, "/>"));
}

void Ranges::limit(Range& range, Part condition, const KeyLength& key, bool is_negated) const {
  std::vector<Part> atoms;
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
  for (const Part& atom : atoms) compare(range, inner(atom), key, is_negated);
}

void Ranges::compare(Range& range, Part atom, const KeyLength& key, bool is_negated) const {
  const std::size_t mark = next_outside(atom.begin, atom.end, "<>=!");
  if (mark >= atom.end || (is(mark + 1, text(mark)) && !is(mark, "="))) return;  // a shift
  const bool has_equal = is(mark + 1, "=");
  const std::size_t behind = mark + (has_equal ? 2 : 1);
  const bool is_left = key(atom.begin) > 0 && atom.begin + key(atom.begin) == mark;
  const bool is_right = key(behind) > 0 && behind + key(behind) == atom.end;
  if (is_left == is_right || is(mark, "!")) return;
  const auto other = of(is_left ? Part{behind, atom.end} : Part{atom.begin, mark});
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

std::optional<Range> Ranges::refined(Range range, Part key, std::size_t place) const {
  const Part function = function_at(place);
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

std::optional<Range> Ranges::macro_range(std::string_view name) const {
  if (!macros_) macros_ = macros_of(source);
  const auto is_same = [&](const Macro& macro) { return macro.name == name; };
  const auto macro = std::ranges::find_if(*macros_, is_same);
  if (std::ranges::count_if(*macros_, is_same) != 1 || macro->has_parameters) return std::nullopt;
  const Ranges text(macro->text, constants_, block_);
  return text.of(text.all());
}

}  // namespace bankwise::fit
