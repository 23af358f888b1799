// SPDX-License-Identifier: MIT
#include "bankcheck/driver/source_excerpt.hpp"

#include <algorithm>
#include <map>

namespace bankwise::driver {
namespace {

constexpr unsigned around = 12;            // lines shown before and after a line with an access
constexpr std::size_t longest_text = 300;  // bytes of a line: generated code may be one line

using NumberedLines = std::map<unsigned, std::string>;

/// Without what follows the last complete character before the limit, and without the carriage return of Windows.
std::string shortened(std::string text) {
  if (text.ends_with('\r')) text.pop_back();
  if (text.size() <= longest_text) return text;
  std::size_t end = longest_text;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end) + " \xE2\x80\xA6";
}

/// All lines of the file that a kernel's line is in; empty if they are not known.
NumberedLines read_lines(const PlacedLine& line, const SourceText& program, const SourceFinder& finder) {
  NumberedLines lines;
  const std::string& file = line.place.file;
  if (!line.is_file) {
    const std::string_view name = file == nameless_place ? nameless_source : std::string_view(file);
    for (const SourceText::Line& line_of_program : program.lines()) {
      if (ends_with_path(name, line_of_program.file)) lines.emplace(line_of_program.number, line_of_program.text);
    }
    if (!lines.empty()) return lines;
  }
  unsigned number = 0;
  for (std::string& text : finder.lines_of_file(file, line.is_file)) lines.emplace(++number, std::move(text));
  return lines;
}

/// Adds the line, with the lines around it.
void add(NumberedLines& shown, const NumberedLines& file_lines, const PlacedLine& line) {
  const unsigned number = line.place.line;
  const auto first = file_lines.lower_bound(number > around ? number - around : 1),
             last = file_lines.upper_bound(number + around);
  if (number > 0) {
    for (auto shown_line = first; shown_line != last; ++shown_line)
      shown.emplace(shown_line->first, shortened(shown_line->second));
  }
  shown.emplace(number, shortened(line.text));  // if the file lacks it
}

}  // namespace

std::vector<SourceExcerpt> source_excerpts(const KernelReport& kernel, const trace::Trace& trace,
                                           const SourceFinder& finder) {
  const std::uint32_t source = kernel.trace.source;
  const SourceText program(source == trace::no_source ? "" : trace.sources.at(source));
  std::map<std::string, std::pair<NumberedLines, NumberedLines>> files;  // all lines, and those shown
  for (const auto& lines : kernel.lines) {
    for (const PlacedLine& line : lines) {
      const auto [file, is_new] = files.try_emplace(line.place.file);
      auto& [file_lines, shown] = file->second;
      if (is_new) file_lines = read_lines(line, program, finder);
      add(shown, file_lines, line);
    }
  }
  std::vector<SourceExcerpt> excerpts;
  excerpts.reserve(files.size());
  for (auto& [file, lines] : files) excerpts.push_back({file, {lines.second.begin(), lines.second.end()}});
  return excerpts;
}

}  // namespace bankwise::driver
