// SPDX-License-Identifier: MIT
#include <bankwise/support/by_reason.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace bankwise {

std::string by_reason(const std::vector<std::pair<std::string, std::string>>& names) {
  std::vector<std::pair<std::string, std::string>> lines;  // reason, names
  for (const auto& [name, reason] : names) {
    const auto same =
        std::find_if(lines.begin(), lines.end(), [&why = reason](const auto& line) { return line.first == why; });
    if (same == lines.end()) {
      lines.emplace_back(reason, name);
    } else {
      same->second += ", " + name;
    }
  }
  std::string text;
  for (const auto& [reason, all] : lines) text += fmt::format("  {}: {}\n", all, reason);
  return text;
}

}  // namespace bankwise
