#include "bankcheck/driver/kernel_report.hpp"

#include <fmt/format.h>

#include <array>
#include <stdexcept>

#include <bankwise/report/metrics.hpp>
#include <bankwise/support/exit_code.hpp>

namespace bankwise::driver {
namespace {

/// Adds to `same_sources` the files that the line may be in, if they are several.
PlacedLine source_line(const SourceText& source, const SourcePlace& place, SourceFinder& finder,
                       std::vector<std::string>& same_sources) {
  const SourceText::Line* line = source.find(place.file, place.line);
  constexpr std::size_t longest = 1000;  // bytes of a line: generated code may be one line
  const std::string text(line == nullptr ? "" : trimmed(line->text).substr(0, longest));
  const std::size_t indent = line == nullptr ? 0 : line->text.find(text), column = place.column;
  const std::size_t at = text.empty() || column <= indent ? std::string::npos : column - 1 - indent;
  const SourceFinder::Found places = finder.find(source, place);
  if (places.place) return {*places.place, text.empty() ? finder.text_at(place) : text, true, at};
  for (const std::string& file : places.files) {
    if (std::ranges::find(same_sources, file) == same_sources.end()) same_sources.push_back(file);
  }
  if (const std::string read = finder.text_at(place); text.empty() && !read.empty()) return {place, read};
  const bool is_nameless = ends_with_path(place.file, nameless_source);
  return {{is_nameless ? std::string(nameless_place) : place.file, place.line, place.column}, text, false, at};
}

SourcePlace place_of(const trace::Site& site) { return {site.file, site.line, site.column}; }

trace::Report report_or_refuse(const trace::KernelTrace& trace, const banks::Architecture& architecture) {
  try {
    return trace::report(trace, architecture);
  } catch (const std::invalid_argument& why) {
    throw support::UsageError(why.what());
  }
}

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

constexpr unsigned around = 3;             // lines shown before and after a line with an access
constexpr std::size_t longest_text = 300;  // bytes of a line: generated code may be one line

using NumberedLines = std::map<unsigned, std::string>;

/// Without the carriage return of Windows, and cut.
std::string shortened(std::string_view text) {
  if (text.ends_with('\r')) text.remove_suffix(1);
  return cut(text, longest_text);
}

/// All lines of the file that a kernel's line is in; empty if they are not known.
NumberedLines read_lines(const PlacedLine& line, const SourceText& program, const SourceFinder& finder) {
  NumberedLines lines;
  const std::string& file = line.place.file;
  if (!line.is_file) {
    const std::string_view name = file == nameless_place ? nameless_source : std::string_view(file);
    for (const SourceText::Line& line_of_program : program.lines()) {
      if (ends_with_path(name, line_of_program.file))
        lines.emplace(line_of_program.number, std::string(line_of_program.text));
    }
    if (!lines.empty()) return lines;
  }
  unsigned number = 0;
  for (std::string& text : finder.lines_of_file(file, line.is_file)) lines.emplace(++number, std::move(text));
  return lines;
}

/// Adds the line, with the lines around it as far as they belong to its function: a brace in the first column ends the
/// function, and what includes a file is before it.
void add(NumberedLines& shown, const NumberedLines& file_lines, const PlacedLine& line) {
  const unsigned number = line.place.line;
  if (const auto found = file_lines.find(number); number > 0 && found != file_lines.end()) {
    auto first = found, last = found;
    while (first != file_lines.begin()) {
      const auto& [before, text] = *std::prev(first);
      if (before + around < number || text.starts_with('}') || text.starts_with("#include")) break;
      --first;
    }
    while (std::next(last) != file_lines.end() && !last->second.starts_with('}')) {
      if (std::next(last)->first > number + around) break;
      ++last;
    }
    while (first != found && trimmed(first->second).empty()) ++first;
    while (last != found && trimmed(last->second).empty()) --last;
    for (auto shown_line = first; shown_line != std::next(last); ++shown_line)
      shown.emplace(shown_line->first, shortened(shown_line->second));
  }
  shown.emplace(number, shortened(line.text));  // if the file lacks it
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

/// The order of the lines of global memory.
std::tuple<const trace::Site&, const banks::Operation&, const unsigned&> global_line_key(
    const trace::GlobalLineReport& line) {
  return {line.site, line.operation, line.width};
}

}  // namespace

void sort_by_place(trace::Report& report) {
  std::ranges::sort(report.lines, {}, line_key);
  for (auto* lines : {&report.global_lines, &report.remote_lines}) std::ranges::sort(*lines, {}, global_line_key);
  std::ranges::sort(report.engine_lines, {}, [](const trace::EngineLineReport& line) {
    return std::tuple(line.site, line.engine, line.row_bytes);
  });
  std::ranges::sort(report.unknown);
}

PlacedLine KernelReport::placed(const trace::Site& site) const {
  const auto place = places.find(place_of(site));
  return place == places.end() ? PlacedLine{.place = place_of(site)} : place->second;
}

std::uint64_t KernelReport::conflicts() const {
  std::uint64_t most = 0;
  for (const trace::Report& report : reports) most = std::max(most, report::most_conflicts(report.all));
  return most;
}

bool KernelReport::has_unknown() const {
  return std::ranges::any_of(reports, [](const trace::Report& report) { return report.all.unknown > 0; });
}

bool is_uncoalesced(const banks::SectorTally& tally) {
  constexpr double few = 0.1;  // most kernels have some, at the edges of their arrays
  return tally.sectors > 0 && double(report::extra_sectors(tally)) >= few * double(tally.sectors);
}

bool KernelReport::is_uncoalesced() const {
  return std::ranges::any_of(reports,
                             [](const trace::Report& report) { return driver::is_uncoalesced(report.global); });
}

bool KernelReport::is_global_first() const {
  const trace::Report& on = reports.front();
  const std::uint64_t conflicts = report::most_conflicts(on.all);
  if (!driver::is_uncoalesced(on.global)) return false;
  const auto& time = times.front();
  const std::uint64_t extra = report::extra_sectors(on.global);
  return time ? time->likely_ns(0, extra) > time->likely_ns(conflicts, 0) : extra > conflicts;
}

double KernelReport::likely_ns() const {
  double most = 0;
  for (std::size_t a = 0; a < reports.size(); ++a) {
    const trace::Report& on = reports[a];
    if (!times[a]) continue;
    const double likely = times[a]->likely_ns(report::most_conflicts(on.all), report::extra_sectors(on.global));
    most = std::max(most, std::min(likely, times[a]->measured_ns.value_or(likely)));
  }
  return most;
}

const trace::GlobalLineReport* same_line(const trace::Report& report, const trace::GlobalLineReport& wanted,
                                         trace::SectorMemory memory) {
  const std::vector<trace::GlobalLineReport>& lines = report.sector_lines(memory);
  const auto same = std::ranges::lower_bound(lines, global_line_key(wanted), {}, global_line_key);
  return same == lines.end() || global_line_key(*same) != global_line_key(wanted) ? nullptr : &*same;
}

std::vector<KernelReport> kernel_reports(const trace::Trace& trace,
                                         const std::vector<const banks::Architecture*>& architectures,
                                         SourceFinder& finder, const std::vector<const banks::GpuModel*>& gpus) {
  std::vector<KernelReport> kernels;
  std::map<std::uint32_t, SourceText> sources;
  for (const trace::KernelTrace& kernel_trace : trace.kernels) {
    KernelReport& kernel = kernels.emplace_back(
        KernelReport{.name = kernel_trace.kernel, .trace = kernel_trace, .number = kernels.size()});
    kernel.trace.patterns.clear();
    kernel.trace.merged.reset();
    kernel.trace.global_patterns.clear();
    kernel.trace.remote_patterns.clear();
    const std::uint32_t number = kernel_trace.source;
    const std::string_view text = number == trace::no_source ? "" : std::string_view(trace.sources.at(number));
    const SourceText& source = sources.try_emplace(number, text).first->second;
    const auto add_place = [&](const trace::Site& site) {
      const auto [at, is_new] = kernel.places.try_emplace(place_of(site));
      if (is_new) at->second = source_line(source, at->first, finder, kernel.same_sources);
    };
    for (const banks::Architecture* architecture : architectures) {
      trace::Report& report = kernel.reports.emplace_back(report_or_refuse(kernel_trace, *architecture));
      sort_by_place(report);
      for (const trace::LineReport& line : report.lines) add_place(line.site);
      for (const trace::GlobalLineReport& line : report.global_lines) add_place(line.site);
      for (const trace::GlobalLineReport& line : report.remote_lines) add_place(line.site);
      for (const trace::EngineLineReport& line : report.engine_lines) add_place(line.site);
      const std::size_t a = kernel.times.size();
      kernel.times.push_back(memory_time(kernel_trace, report, a < gpus.size() ? gpus[a] : nullptr, a == 0));
    }
    for (const trace::DiagnosisRecord& diagnosis : kernel_trace.diagnoses)
      add_place(kernel_trace.sites.at(diagnosis.site));
  }
  name_apart(kernels);
  return kernels;
}

std::vector<SourceExcerpt> source_excerpts(const KernelReport& kernel, const trace::Trace& trace,
                                           const SourceFinder& finder) {
  const std::uint32_t source = kernel.trace.source;
  const SourceText program(source == trace::no_source ? "" : trace.sources.at(source));
  std::map<std::string, std::pair<NumberedLines, NumberedLines>> files;  // all lines, and those shown
  const auto show = [&](const trace::Site& site) {
    const PlacedLine line = kernel.placed(site);
    const auto [file, is_new] = files.try_emplace(line.place.file);
    auto& [file_lines, shown] = file->second;
    if (is_new) file_lines = read_lines(line, program, finder);
    add(shown, file_lines, line);
  };
  for (const trace::Report& report : kernel.reports) {
    for (const trace::LineReport& line : report.lines) show(line.site);
    for (const trace::GlobalLineReport& line : report.global_lines) show(line.site);
  }
  std::vector<SourceExcerpt> excerpts;
  excerpts.reserve(files.size());
  for (auto& [file, lines] : files) excerpts.push_back({file, {lines.second.begin(), lines.second.end()}});
  return excerpts;
}

std::string without_folders(std::string_view options) {
  std::string kept;
  for (std::string_view rest = options;;) {
    const std::string_view word = take_word(rest);
    if (word.empty()) return kept;
    const bool is_path = std::ranges::any_of(paths, [&](auto path) { return word.starts_with(path); });
    const bool has_value = word == "-D" || word == "-U" || std::ranges::find(paths, word) != paths.end();
    std::string option(word);
    if (const auto value = has_value ? take_word(rest) : ""; !value.empty()) option += ' ' + std::string(value);
    if (!is_path && !names_folder(option)) kept += (kept.empty() ? "" : " ") + option;
  }
}

std::vector<std::vector<std::size_t>> KernelReport::faults_by_cause() const {
  std::vector<std::vector<std::size_t>> causes;
  std::map<std::string, std::size_t> within_warps;  // index into causes, by function
  for (std::size_t i = 0; i < trace.diagnoses.size(); ++i) {
    const trace::DiagnosisRecord& diagnosis = trace.diagnoses[i];
    if (trace::row_of(diagnosis.fault).is_remark) continue;
    const auto next = causes.size();
    const bool in_warp = diagnosis.fault == trace::Fault::race &&
                         diagnosis.text.find(trace::warp_synchronous_switch.flag) != std::string::npos;
    const std::size_t cause =
        in_warp ? within_warps.try_emplace(trace.sites.at(diagnosis.site).function, next).first->second : next;
    if (cause == next) causes.emplace_back();
    causes[cause].push_back(i);
  }
  return causes;
}

}  // namespace bankwise::driver
