#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include <bankwise/support/text.hpp>
#include "bankcheck/driver/measure_parts.hpp"

namespace bankwise::driver {
namespace {

bool is_decimal(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

std::string lower(std::string_view text) {
  std::string low(text);
  std::ranges::transform(low, low.begin(), [](unsigned char c) { return char(std::tolower(c)); });
  return low;
}

/// "ms", "gb/s": a word without what stands around it.
std::string_view bare(std::string_view word) {
  constexpr std::string_view around = "()[]{},;:.=";
  while (!word.empty() && around.find(word.front()) != std::string_view::npos) word.remove_prefix(1);
  while (!word.empty() && around.find(word.back()) != std::string_view::npos) word.remove_suffix(1);
  return word;
}

bool is_unit(std::string_view word) {
  constexpr std::array<std::string_view, 16> units{"ns",   "us",  "µs",   "ms",      "s",   "sec", "secs",    "second",
                                                   "msec", "fps", "usec", "seconds", "mhz", "ghz", "speedup", "x"};
  const bool is_rate = word.ends_with("/s") || word.ends_with("/sec") || word.ends_with("flops") ||
                       word.ends_with("flop/s") || word.ends_with("bps");
  return is_rate || std::ranges::find(units, word) != units.end();
}

}  // namespace

void RepeatedOutput::add(std::string_view output) {
  std::vector<std::string> lines = lines_of(output);
  if (is_empty_) {
    lines_ = std::move(lines);
    varies_.assign(lines_.size(), false);
    is_empty_ = false;
    return;
  }
  equal_lengths_ = equal_lengths_ && lines.size() == lines_.size();
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    if (i >= lines.size() || lines[i] != lines_[i]) varies_[i] = true;
  }
}

bool has_time(std::string_view line) {
  const std::string low = lower(line);
  if (std::ranges::none_of(low, is_decimal)) return false;
  for (const char* word : {"time", "elapsed", "bandwidth", "throughput", "duration", "performance", "speedup"}) {
    if (low.find(word) != std::string::npos) return true;
  }
  bool after_number = false;  // the word before is one
  for (std::size_t at = 0; at < low.size();) {
    const auto begin = low.find_first_not_of(" \t\r", at);
    if (begin == std::string::npos) break;
    const auto end = std::min(low.find_first_of(" \t\r", begin), low.size());
    const std::string_view word = bare(std::string_view(low).substr(begin, end - begin));
    const auto digits = word.find_first_not_of("0123456789.+-e");
    const bool begins_with_number = !word.empty() && (is_decimal(word.front()) || word.front() == '-');
    if (begins_with_number && digits != std::string_view::npos && is_unit(word.substr(digits))) return true;
    if (after_number && is_unit(word)) return true;
    after_number = begins_with_number && digits == std::string_view::npos;
    at = end;
  }
  return false;
}

ComparedOutput compare(const RepeatedOutput& original, const RepeatedOutput& changed) {
  ComparedOutput compared;
  const std::vector<std::string>&before = original.lines(), &after = changed.lines();
  if (!original.has_equal_lengths()) {
    compared.not_compared = before.size();
    return compared;
  }
  if (before.size() != after.size() || !changed.has_equal_lengths()) {
    compared.difference =
        before.size() == after.size()
            ? "the number of lines of stdout differs from run to run"
            : fmt::format("stdout has {} instead of {}", support::plural(after.size(), "line", "lines"), before.size());
    return compared;
  }
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (before[i] == after[i] && original.repeats(i) && changed.repeats(i)) {
      ++compared.equal;
    } else if (!original.repeats(i) || has_time(before[i])) {
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
