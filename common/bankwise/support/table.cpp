#include <bankwise/support/table.hpp>

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include <bankwise/support/numbers.hpp>

namespace bankwise::support {
namespace {

using Table = std::vector<std::vector<std::string>>;

/// The columns of a text in UTF-8: all bytes but those that continue a character.
std::size_t width_of(const std::string& text) {
  return std::size_t(std::ranges::count_if(text, [](char byte) { return (byte & 0xC0) != 0x80; }));
}

/// Where the parts of a table begin and end; each is as wide as `limit` allows.
std::vector<std::size_t> cuts(const std::vector<std::size_t>& widths, std::size_t titles, std::size_t limit) {
  std::vector<std::size_t> cuts{titles};
  std::size_t width = 0;
  for (std::size_t i = 0; i < titles; ++i) width += widths[i];
  std::size_t used = width;
  for (std::size_t i = titles; i < widths.size(); used += widths[i++]) {
    if (used + widths[i] <= limit || i == cuts.back()) continue;
    cuts.push_back(i);
    used = width;
  }
  cuts.push_back(widths.size());
  return cuts;
}

std::vector<std::size_t> widths_of(const Table& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width_of(row[i]));
  }
  return widths;
}

}  // namespace

std::string format_table(const std::vector<std::vector<std::string>>& rows, std::size_t left, bool last_left) {
  const std::vector<std::size_t> widths = widths_of(rows);
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string blanks(widths[i] - width_of(row[i]), ' ');
      const bool is_left = i < left || (last_left && i + 1 == widths.size());
      line += "  " + (is_left ? row[i] + blanks : blanks + row[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  return text;
}

std::string format_wide_table(const Table& rows, std::size_t titles, std::size_t max_width) {
  std::vector<std::size_t> widths = widths_of(rows);
  for (std::size_t& width : widths) width += 2;
  auto ends = cuts(widths, titles, max_width);
  for (std::size_t limit = max_width; limit > 0; --limit) {
    auto even = cuts(widths, titles, limit);
    if (even.size() > ends.size()) break;
    ends = std::move(even);
  }
  std::string text;
  for (std::size_t piece = 0; piece + 1 < ends.size(); ++piece) {
    Table part;
    const auto from = std::ptrdiff_t(ends[piece]), to = std::ptrdiff_t(ends[piece + 1]);
    for (const auto& row : rows) {
      auto& line = part.emplace_back(row.begin(), row.begin() + std::ptrdiff_t(titles));
      line.insert(line.end(), row.begin() + from, row.begin() + to);
    }
    text += format_table(part, titles);
  }
  return text;
}

unsigned terminal_columns(unsigned otherwise) {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  const char* exported = std::getenv("COLUMNS");
  unsigned columns = 0;
  return exported != nullptr && parse_number(exported, columns) && columns > 0 ? columns : otherwise;
}

bool terminal_has_colour(int file) {
  const char* no_color = std::getenv("NO_COLOR");
  return isatty(file) != 0 && (no_color == nullptr || *no_color == '\0');
}

std::string painted(std::string_view text, std::string_view sgr) {
  return "\033[" + std::string(sgr) + 'm' + std::string(text) + "\033[0m";
}

}  // namespace bankwise::support
