// SPDX-License-Identifier: MIT
#include <bankwise/support/in_quotes.hpp>

#include <algorithm>

namespace bankwise {

std::string in_quotes(std::string_view text, std::size_t longest) {
  std::string shown(text.substr(0, longest));
  std::replace_if(
      shown.begin(), shown.end(), [](unsigned char c) { return c < ' ' || c > '~'; }, '?');
  return "'" + shown + (text.size() > longest ? "...'" : "'");
}

}  // namespace bankwise
