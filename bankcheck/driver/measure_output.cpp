#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>

#include <bankwise/support/text.hpp>
#include "bankcheck/driver/measure.hpp"

namespace bankwise::driver {
namespace {

bool is_decimal(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

std::string lower(std::string_view text) {
  std::string low(text);
  std::ranges::transform(low, low.begin(), [](unsigned char c) { return char(std::tolower(c)); });
  return low;
}

bool is_unit(std::string_view word) {
  constexpr std::string_view units = "ns us µs ms s sec secs second msec fps usec seconds mhz ghz speedup x";
  const bool is_rate = word.ends_with("/s") || word.ends_with("/sec") || word.ends_with("flops") ||
                       word.ends_with("flop/s") || word.ends_with("bps");
  return is_rate || support::has_word(units, word);
}

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || static_cast<signed char>(c) < 0; }

/// Whether one of its parts is about time or a rate: "kernel_time", "elapsedTime", but not "timestep".
bool is_about_time(std::string_view word) {
  constexpr std::string_view names =
      "time times runtime elapsed bandwidth throughput duration performance speedup latency";
  for (std::size_t begin = 0; begin < word.size();) {
    std::size_t end = begin + 1;
    const auto begins_part = [&](std::size_t i) {
      const auto is_lower = [](char c) { return std::islower(static_cast<unsigned char>(c)) != 0; };
      return !is_letter(word[i]) || (is_lower(word[i - 1]) && !is_lower(word[i]));
    };
    while (end < word.size() && !begins_part(end)) ++end;
    std::string_view part = word.substr(begin, end - begin);
    if (!is_letter(part.front())) part.remove_prefix(1);
    if (support::has_word(names, lower(part))) return true;
    begin = end;
  }
  return false;
}

struct Token {
  enum class Kind { number, word, sign } kind;
  std::string_view text;
  bool is_time = false;  // of a number: it is a time or a rate
};

/// The end of the number that begins here, for example -1.5e-3 or 0x1f; `begin` if none does.
std::size_t end_of_number(std::string_view line, std::size_t begin) {
  const std::size_t digits = begin + (line[begin] == '-' || line[begin] == '+' ? 1 : 0);
  const std::string_view rest = line.substr(digits);
  if (rest.starts_with("0x"))
    return std::min(line.find_first_not_of("0123456789abcdefABCDEF", digits + 2), line.size());
  if (rest.empty() || !(is_decimal(rest.front()) || rest.front() == '.')) return begin;
  double value = 0;
  const std::from_chars_result parsed = std::from_chars(rest.data(), rest.data() + rest.size(), value);
  return parsed.ptr == rest.data() ? begin : digits + std::size_t(parsed.ptr - rest.data());
}

/// The tokens of a line. A number is a time if a unit follows, which is then left out, or if a word about time stands
/// before it, with no other number or comma and then a word between them.
std::vector<Token> tokens_of(std::string_view line) {
  constexpr std::string_view before_unit = "([";
  std::vector<Token> tokens;
  bool after_time = false, after_number = false;
  for (std::size_t begin = 0, end = 0; begin < line.size(); begin = end) {
    end = begin + 1;
    if (std::isspace(static_cast<unsigned char>(line[begin])) != 0) continue;
    const std::size_t number = end_of_number(line, begin);
    if (number > begin) {
      end = number;
      tokens.push_back({Token::Kind::number, line.substr(begin, end - begin), after_time});
      after_number = true;
      continue;
    }
    if (!is_letter(line[begin])) {
      after_time = after_time && line[begin] != ',' && line[begin] != ';';
      after_number = after_number && before_unit.find(line[begin]) != std::string_view::npos;
      tokens.push_back({Token::Kind::sign, line.substr(begin, 1)});
      continue;
    }
    const auto is_inside = [](char c) { return is_letter(c) || is_decimal(c) || c == '_' || c == '/'; };
    while (end < line.size() && is_inside(line[end])) ++end;
    const std::string_view word = line.substr(begin, end - begin);
    const auto last = std::ranges::find(tokens.rbegin(), tokens.rend(), Token::Kind::number, &Token::kind);
    if (after_number && is_unit(lower(word))) {
      last->is_time = true;
      after_time = false;
    } else {
      after_time = is_about_time(word) || (after_time && tokens.back().kind != Token::Kind::number);
      tokens.push_back({Token::Kind::word, word});
    }
    after_number = false;
  }
  return tokens;
}

/// The line without the numbers that are times, or without all numbers, and without what aligns them.
std::string without_numbers(std::string_view line, bool only_times) {
  std::string text;
  for (const Token& token : tokens_of(line)) {
    const bool is_left_out = token.kind == Token::Kind::number && (token.is_time || !only_times);
    text += fmt::format("{} ", is_left_out ? "#" : token.text);
  }
  return text;
}

Variation difference_of(std::string_view before, std::string_view after) {
  if (before == after) return Variation::none;
  if (without_numbers(before, true) == without_numbers(after, true)) return Variation::times;
  return without_numbers(before, false) == without_numbers(after, false) ? Variation::numbers : Variation::words;
}

}  // namespace

void RepeatedOutput::add(std::string_view output) {
  std::vector<std::string> now = lines_of(output);
  if (runs++ == 0) {
    lines = std::move(now);
    variations.assign(lines.size(), Variation::none);
    return;
  }
  has_equal_lengths = has_equal_lengths && now.size() == lines.size();
  for (std::size_t i = 0; i < lines.size(); ++i)
    variations[i] = std::max(variations[i], i < now.size() ? difference_of(lines[i], now[i]) : Variation::words);
}

bool has_time(std::string_view line) { return std::ranges::any_of(tokens_of(line), &Token::is_time); }

ComparedOutput compare(const RepeatedOutput& original, const RepeatedOutput& changed) {
  ComparedOutput compared;
  const std::vector<std::string>&before = original.lines, &after = changed.lines;
  if (!original.has_equal_lengths) {
    compared.not_compared = before.size();
    return compared;
  }
  if (before.size() != after.size() || !changed.has_equal_lengths) {
    compared.difference =
        before.size() == after.size()
            ? "the number of lines of stdout differs from run to run"
            : fmt::format("stdout has {} instead of {}", support::plural(after.size(), "line", "lines"), before.size());
    return compared;
  }
  for (std::size_t i = 0; i < before.size(); ++i) {
    const Variation allowed =
        std::max(original.variations[i], has_time(before[i]) ? Variation::times : Variation::none);
    const Variation observed = std::max(changed.variations[i], difference_of(before[i], after[i]));
    if (observed == Variation::none && original.variations[i] == Variation::none) {
      ++compared.equal;
    } else if (observed <= allowed) {
      ++compared.not_compared;
    } else if (!compared.difference && before[i] == after[i]) {
      compared.difference = fmt::format("line {} of stdout differs from run to run", i + 1);
    } else if (!compared.difference) {
      compared.difference = fmt::format("line {} of stdout is {} instead of {}", i + 1,
                                        support::in_quotes(after[i], 60), support::in_quotes(before[i], 60));
    }
  }
  return compared;
}

}  // namespace bankwise::driver
