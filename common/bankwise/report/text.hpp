// SPDX-License-Identifier: MIT
//
// What the tables for the terminal share.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>

#include <bankwise/study/result.hpp>

namespace bankwise::report {

template <class Format>
std::string optional_text(const std::optional<double>& value, const Format& format) {
  return value ? format(*value) : std::string("-");
}

inline std::string percent(double fraction) { return fmt::format("{:.1f} %", 100 * fraction); }

inline bool has_counters(const RunResults& run) {
  return std::ranges::any_of(run.results, [](const Result& result) { return result.counters.has_value(); });
}

/// The first line of a reason; a compiler's log has many.
inline std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

}  // namespace bankwise::report
