// SPDX-License-Identifier: MIT
#include "bankcheck/driver/source_text.hpp"

#include <algorithm>
#include <cctype>
#include <optional>

namespace bankwise::driver {
namespace {

/// The number and file name that `#line 12 "file"`, or a preprocessor's `# 12 "file"`, gives to the next line.
std::optional<SourceText::Line> directive_in(std::string_view line, const std::string& file) {
  line = trimmed(line);
  if (!line.starts_with('#')) return std::nullopt;
  line = trimmed(line.substr(1));
  if (line.starts_with("line")) line = trimmed(line.substr(4));
  std::size_t digits = 0;
  while (digits < line.size() && std::isdigit(static_cast<unsigned char>(line[digits])) != 0) ++digits;
  if (digits == 0 || digits > 9) return std::nullopt;
  SourceText::Line next{file, unsigned(std::stoul(std::string(line.substr(0, digits)))), ""};
  const auto open = line.find('"'), close = line.rfind('"');
  if (open < close) next.file = line.substr(open + 1, close - open - 1);
  return next;
}

}  // namespace

std::string_view trimmed(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t\r");
  return begin == std::string_view::npos ? "" : text.substr(begin, text.find_last_not_of(" \t\r") + 1 - begin);
}

bool ends_with_path(std::string_view path, std::string_view tail) {
  return path.ends_with(tail) && (path.size() == tail.size() || path[path.size() - tail.size() - 1] == '/');
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

SourceText::SourceText(std::string_view text) {
  std::string file(nameless_source);
  unsigned number = 1;
  for (std::string& line : lines_of(text)) {
    const auto next = directive_in(line, file);
    lines_.push_back({file, number++, std::move(line)});
    if (!next) continue;
    file = next->file;
    number = next->number;
  }
}

const SourceText::Line* SourceText::find(std::string_view file, unsigned number) const {
  for (const Line& line : lines_) {
    if (line.number == number && ends_with_path(file, line.file)) return &line;
  }
  return nullptr;
}

}  // namespace bankwise::driver
