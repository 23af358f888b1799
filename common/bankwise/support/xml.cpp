// SPDX-License-Identifier: MIT
#include <bankwise/support/xml.hpp>

namespace bankwise {

std::string xml_text(std::string_view text) {
  std::string safe;
  for (const char c : text) safe += c == '<' ? "&lt;" : c == '&' ? "&amp;" : c == '>' ? "&gt;" : std::string(1, c);
  return safe;
}

}  // namespace bankwise
