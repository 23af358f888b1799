// SPDX-License-Identifier: MIT
#include "bankwise/console/table.hpp"

#include <algorithm>

namespace bankwise {

std::string format_table(const std::vector<std::vector<std::string>>& rows, std::size_t left, bool last_left) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string blanks(widths[i] - row[i].size(), ' ');
      const bool is_left = i < left || (last_left && i + 1 == widths.size());
      line += "  " + (is_left ? row[i] + blanks : blanks + row[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  return text;
}

}  // namespace bankwise
