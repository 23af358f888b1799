// SPDX-License-Identifier: MIT
//
// What the tables for the terminal share.
#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>

namespace bankwise::report {

template <class Format>
std::string optional_text(const std::optional<double>& value, const Format& format) {
  return value ? format(*value) : std::string("-");
}

inline std::string percent(double fraction) { return fmt::format("{:.1f} %", 100 * fraction); }

/// The first line of a reason; a compiler's log has many.
inline std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

}  // namespace bankwise::report
