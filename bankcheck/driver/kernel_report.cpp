// SPDX-License-Identifier: MIT
#include "bankcheck/driver/kernel_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <stdexcept>
#include <tuple>

#include <bankwise/support/exit_code.hpp>

namespace bankwise::driver {
namespace {

/// Adds to `same_sources` the files that the line may be in, if they are several.
PlacedLine source_line(const SourceText& source, const SourcePlace& place, SourceFinder& finder,
                       std::vector<std::string>& same_sources) {
  const SourceText::Line* line = source.find(place.file, place.line);
  const std::string text(line == nullptr ? "" : trimmed(line->text));
  const SourceFinder::Found places = finder.find(source, place);
  if (places.place) return {*places.place, text.empty() ? finder.text_at(place) : text, true};
  for (const std::string& file : places.files) {
    if (std::find(same_sources.begin(), same_sources.end(), file) == same_sources.end()) same_sources.push_back(file);
  }
  if (const std::string read = finder.text_at(place); text.empty() && !read.empty()) return {place, read};
  return {ends_with_path(place.file, nameless_source)
              ? SourcePlace{std::string(nameless_place), place.line, place.column}
              : place,
          text};
}

SourcePlace place_of(const trace::Site& site) { return {site.file, site.line, site.column}; }

trace::Report report_or_refuse(const trace::KernelTrace& trace, const banks::Architecture& architecture) {
  try {
    return trace::report(trace, architecture);
  } catch (const std::invalid_argument& why) {
    throw UsageError(why.what());
  }
}

/// Sorts the lines, so that the order does not depend on which launch ran first.
trace::Report by_place(trace::Report report) {
  const auto key = [](const trace::LineReport& line) {
    return std::tie(line.site, line.array, line.operation, line.width);
  };
  std::sort(report.lines.begin(), report.lines.end(), [&](const auto& a, const auto& b) { return key(a) < key(b); });
  std::sort(report.unknown.begin(), report.unknown.end());
  return report;
}

constexpr std::string_view blanks = " \t\r\n";

/// Takes the next word off the front of `rest`, with its quotes, in which blanks are part of the word.
std::string_view take_word(std::string_view& rest) {
  rest.remove_prefix(std::min(rest.find_first_not_of(blanks), rest.size()));
  std::size_t end = 0;
  for (char quote = '\0'; end < rest.size(); ++end) {
    const char c = rest[end];
    if (c == '\\' && end + 1 < rest.size()) {
      ++end;
    } else if (quote != '\0') {
      if (c == quote) quote = '\0';
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (blanks.find(c) != std::string_view::npos) {
      break;
    }
  }
  const std::string_view word = rest.substr(0, end);
  rest.remove_prefix(end);
  return word;
}

/// Whether a path that is not below the current folder, or is marked as one, begins anywhere in the option.
bool names_folder(std::string_view option) {
  for (auto at = option.find('/'); at != std::string_view::npos; at = option.find('/', at + 1)) {
    std::string_view before = option.substr(0, at);
    for (const std::string_view mark : {"..", ".", "~"}) {
      if (!before.ends_with(mark)) continue;
      before.remove_suffix(mark.size());
      break;
    }
    constexpr std::string_view begins = "=\"'\\:,;( ";
    if (before.empty() || begins.find(before.back()) != std::string_view::npos) return true;
  }
  return false;
}

/// Options whose value may be a separate word.
constexpr std::array paths{"-I", "-isystem", "-iquote", "-idirafter", "-include", "-imacros", "-isysroot"};

/// Makes the names of kernels distinct: build options are appended to equal names, and numbers to names that are still
/// equal. No folder is in a name, because a baseline must hold for another checkout, too.
void name_apart(std::vector<KernelReport>& kernels) {
  std::map<std::string, unsigned> names, used;
  for (const KernelReport& kernel : kernels) ++names[kernel.name];
  for (KernelReport& kernel : kernels) {
    const std::string options = without_folders(kernel.trace.options);
    if (names[kernel.name] > 1 && !options.empty()) kernel.name += " " + options;
    const unsigned number = ++used[kernel.name];
    if (number > 1) kernel.name += fmt::format("#{}", number);
  }
}

}  // namespace

std::string without_folders(std::string_view options) {
  std::string kept;
  for (std::string_view rest = options;;) {
    const std::string_view word = take_word(rest);
    if (word.empty()) return kept;
    const bool is_path = std::any_of(paths.begin(), paths.end(), [&](auto path) { return word.starts_with(path); });
    const bool has_value = word == "-D" || word == "-U" || std::find(paths.begin(), paths.end(), word) != paths.end();
    std::string option(word);
    if (const auto value = has_value ? take_word(rest) : ""; !value.empty()) option += ' ' + std::string(value);
    if (!is_path && !names_folder(option)) kept += (kept.empty() ? "" : " ") + option;
  }
}

std::optional<std::size_t> KernelReport::worst_line(std::size_t architecture) const {
  const auto& report_lines = reports[architecture].lines;
  const auto conflicts = [](const trace::LineReport& line) { return line.worst ? line.worst->conflicts : 0; };
  const auto worst = std::max_element(report_lines.begin(), report_lines.end(),
                                      [&](const auto& a, const auto& b) { return conflicts(a) < conflicts(b); });
  if (worst == report_lines.end() || conflicts(*worst) == 0) return std::nullopt;
  return std::size_t(worst - report_lines.begin());
}

std::vector<KernelReport> kernel_reports(const trace::Trace& trace,
                                         const std::vector<const banks::Architecture*>& architectures,
                                         SourceFinder& finder) {
  std::vector<KernelReport> kernels;
  for (const trace::KernelTrace& kernel_trace : trace.kernels) {
    KernelReport& kernel = kernels.emplace_back();
    kernel.name = kernel_trace.kernel;
    kernel.trace = kernel_trace;
    kernel.number = kernels.size() - 1;
    kernel.trace.patterns.clear();
    kernel.trace.merged.reset();
    const SourceText source(kernel_trace.source == trace::no_source ? "" : trace.sources.at(kernel_trace.source));
    std::map<SourcePlace, PlacedLine> places;
    const auto placed_line = [&](const trace::Site& site) -> const PlacedLine& {
      const auto [at, is_new] = places.try_emplace(place_of(site));
      if (is_new) at->second = source_line(source, at->first, finder, kernel.same_sources);
      return at->second;
    };
    for (const banks::Architecture* architecture : architectures) {
      const trace::Report& report =
          kernel.reports.emplace_back(by_place(report_or_refuse(kernel_trace, *architecture)));
      auto& lines = kernel.lines.emplace_back();
      for (const trace::LineReport& line : report.lines) lines.push_back(placed_line(line.site));
    }
    for (const trace::DiagnosisRecord& diagnosis : kernel_trace.diagnoses) {
      kernel.diagnoses.push_back(placed_line(kernel_trace.sites.at(diagnosis.site)));
    }
  }
  name_apart(kernels);
  return kernels;
}

}  // namespace bankwise::driver
