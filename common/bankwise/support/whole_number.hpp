// SPDX-License-Identifier: MIT
#pragma once

#include <charconv>
#include <string_view>

namespace bankwise {

/// Parses text that is one number and nothing else. False if it is not, or too large.
template <class Number>
bool parse_number(std::string_view text, Number& number, int base = 10) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace bankwise
