#include "bankcheck/driver/fit_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <stdexcept>

#include <bankwise/support/exit_code.hpp>
#include <bankwise/support/files.hpp>
#include "bankcheck/driver/fit_code.hpp"

namespace bankwise::driver {
namespace {

class Sources {
 public:
  Sources(const trace::Trace& trace, const SourceFinder& finder) : trace_(trace), finder_(finder) {}

  /// The lines that use an array, in each file; those of the kernel's own text, as its compiler knew them, under "".
  using UsedLines = std::map<std::string, std::set<unsigned>>;

  /// Those of each array of a kernel.
  static std::vector<UsedLines> used_lines(const KernelReport& kernel, const trace::KernelTrace& kernel_trace) {
    std::vector<UsedLines> lines(kernel_trace.arrays.size());
    std::set<std::pair<std::uint32_t, std::uint32_t>> known;
    for (const trace::Pattern& pattern : kernel_trace.patterns) {
      if (!known.emplace(pattern.array, pattern.site).second) continue;
      const trace::Site& site = kernel_trace.sites[pattern.site];
      const SourcePlace place = place_of(kernel, site);
      lines[pattern.array][place.file].insert(place.line);
      if (ends_with_path(site.file, nameless_source)) lines[pattern.array][""].insert(site.line);
    }
    return lines;
  }

  std::optional<ArraySource> find(const trace::KernelTrace& kernel_trace, const trace::Array& used_array,
                                  const UsedLines& files) {
    for (const auto& [file, lines] : files) {
      std::string path = finder_.path_of(file, true);
      if (path.empty()) path = finder_.path_of(file, false);
      if (auto source = declared_in(path, text_of(path), used_array, lines, kernel_trace.options)) return source;
    }
    return find_in_own_text(trace_, kernel_trace, used_array, files);
  }

  static std::optional<ArraySource> find_in_own_text(const trace::Trace& trace, const trace::KernelTrace& kernel_trace,
                                                     const trace::Array& used_array, const UsedLines& files) {
    if (kernel_trace.source == trace::no_source) return std::nullopt;
    const auto own = files.find("");
    return declared_in("", trace.sources.at(kernel_trace.source), used_array,
                       own == files.end() ? std::set<unsigned>() : own->second, kernel_trace.options);
  }

 private:
  /// Where the user finds a site: the report has looked for it.
  static SourcePlace place_of(const KernelReport& kernel, const trace::Site& site) {
    const auto& lines = kernel.reports.front().lines;  // in the order of line_key()
    const auto first = std::ranges::lower_bound(lines, site, {}, &trace::LineReport::site);
    if (first == lines.end() || first->site != site) return {site.file, site.line, site.column};
    return kernel.lines.front()[std::size_t(first - lines.begin())].place;
  }
  const std::string& text_of(const std::string& path) {
    const auto [text, is_new] = texts_.try_emplace(path);
    if (is_new && !path.empty()) text->second = source_file_text(path);
    return text->second;
  }
  static std::optional<ArraySource> declared_in(const std::string& path, const std::string& text,
                                                const trace::Array& array, const std::set<unsigned>& lines,
                                                const std::string& options) {
    auto declaration = fit::find_declaration(text, array.name, {lines.begin(), lines.end()}, array.bytes, options);
    if (!declaration) return std::nullopt;
    return ArraySource{path, text, std::move(*declaration), "nothing is changed"};
  }

  const trace::Trace& trace_;
  const SourceFinder& finder_;
  std::map<std::string, std::string> texts_;
};

/// As far as the code says it. Nothing: what the accesses suggest.
std::optional<fit::ArrayShape> shape_of(const trace::Array& array, const std::optional<ArraySource>& source,
                                        bool is_opencl) {
  constexpr std::size_t inferred = 2;  // dimensions, at most
  const fit::ArrayShape one_index{0, {}};
  if (!source) return is_dynamic(array.name, source, is_opencl) ? std::optional(one_index) : std::nullopt;
  const fit::Declaration& declaration = source->declaration;
  const bool is_known = declaration.element > 0 && declaration.lengths.size() == declaration.dimensions.size();
  if (is_known) return fit::ArrayShape{declaration.element, declaration.lengths};
  const bool has_rows = declaration.dimensions.size() == inferred && !is_dynamic(array.name, source, is_opencl);
  return has_rows ? std::nullopt : std::optional(one_index);
}

/// What `--fit` writes for an array's change.
void set_edits(const std::vector<trace::Array>& arrays, const fit::ArrayFit& array, ArraySource& source) {
  if (array.chosen == 0) return;
  std::set<std::string> names;
  for (const std::uint32_t each : array.arrays) names.insert(arrays[each].name);
  if (names.size() > 1) {
    source.edits = "several arrays are changed together";
  } else {
    source.edits = edits_of(source.text, source.declaration, array.after().option.change, array.shape);
  }
}

using Edits = std::map<std::string, std::vector<fit::Edit>>;  // by path, or by text

bool overlap(const fit::Edit& a, const fit::Edit& b) { return a != b && a.begin < b.end && b.begin < a.end; }

/// An index of one changed array that reads another one: the two edits cannot both be made.
void part_overlapping(KernelFitReport& report) {
  for (auto source = report.sources.begin(); source != report.sources.end(); ++source) {
    const auto* edits = *source ? std::get_if<std::vector<fit::Edit>>(&(*source)->edits) : nullptr;
    if (edits == nullptr) continue;
    const bool overlaps = std::any_of(report.sources.begin(), source, [&](const std::optional<ArraySource>& earlier) {
      const auto* others = earlier ? std::get_if<std::vector<fit::Edit>>(&earlier->edits) : nullptr;
      return others != nullptr && earlier->path == (*source)->path &&
             std::ranges::any_of(*edits, [&](const fit::Edit& edit) {
               return std::ranges::any_of(*others, [&](const fit::Edit& other) { return overlap(edit, other); });
             });
    });
    if (overlaps) (*source)->edits = "an index of a changed array reads another changed array";
  }
}

/// The edits of all changed arrays of a kernel, or why there are none.
std::variant<Edits, std::string> edits_of_kernel(const KernelFitReport& report,
                                                 std::map<std::string, std::string>& texts, bool by_text) {
  Edits edits;
  for (std::size_t i = 0; i < report.fit.arrays.size(); ++i) {
    const fit::ArrayFit& array = report.fit.arrays[i];
    if (array.chosen == 0) continue;
    const auto& source = report.sources[i];
    if (!source) return fmt::format("the declaration of {} was not found", array.name);
    if (source->path.empty() && !by_text) return fmt::format("{} is not declared in a file", array.name);
    if (const auto* why = std::get_if<std::string>(&source->edits)) return fmt::format("{}: {}", array.name, *why);
    const std::string& key = by_text ? source->text : source->path;
    texts[key] = source->text;
    for (const fit::Edit& edit : std::get<std::vector<fit::Edit>>(source->edits)) edits[key].push_back(edit);
  }
  return edits;
}

}  // namespace

std::vector<KernelFitReport> fit_reports(const trace::Trace& trace, const std::vector<KernelReport>& kernels,
                                         const fit::Architectures& architectures, const FitOptions& options,
                                         const SourceFinder& finder, bool incomplete) {
  Sources sources(trace, finder);
  std::vector<KernelFitReport> reports;
  for (const KernelReport& kernel : kernels) {
    const trace::KernelTrace& kernel_trace = trace.kernels[kernel.number];
    KernelFitReport& report = reports.emplace_back();
    report.is_opencl = kernel_trace.source != trace::no_source || trace.maker == trace::Maker::opencl;
    std::map<std::uint32_t, ArraySource> declared;
    fit::KnownShapes shapes;
    const auto used_lines = Sources::used_lines(kernel, kernel_trace);
    for (std::uint32_t array = 0; array < kernel_trace.arrays.size(); ++array) {
      auto source = sources.find(kernel_trace, kernel_trace.arrays[array], used_lines[array]);
      if (auto shape = shape_of(kernel_trace.arrays[array], source, report.is_opencl)) shapes[array] = *shape;
      if (source) declared.emplace(array, std::move(*source));
    }
    try {
      report.fit =
          fit_kernel(kernel_trace, architectures, shapes, {options.max_shared, options.keep_occupancy, !incomplete});
    } catch (const std::invalid_argument& why) {
      throw support::UsageError(why.what());
    }
    for (auto* side : {&report.fit.before, &report.fit.after}) std::ranges::for_each(*side, sort_by_place);
    for (fit::ArrayFit& array : report.fit.arrays) {
      if (incomplete) array.doubts.emplace_back("the trace is incomplete");
      auto& source = report.sources.emplace_back();
      const auto declaration = declared.find(array.arrays.front());
      if (declaration == declared.end()) continue;
      source = declaration->second;
      set_edits(kernel_trace.arrays, array, *source);
    }
    part_overlapping(report);
  }
  return reports;
}

void choose(KernelFitReport& report, const std::vector<fit::PricedOption>& options) {
  for (std::size_t i = 0; i < report.fit.arrays.size(); ++i) {
    fit::ArrayFit& array = report.fit.arrays[i];
    array.options.push_back(options[i]);
    const bool is_changed = options[i].option.change != fit::Change();
    array.chosen = is_changed ? array.options.size() - 1 : 0;
    if (report.sources[i]) set_edits(report.fit.places, array, *report.sources[i]);
  }
  part_overlapping(report);
}

void declare_in_own_text(KernelFitReport& report, const KernelReport& kernel, const trace::Trace& trace) {
  const trace::KernelTrace& kernel_trace = trace.kernels[kernel.number];
  const auto used_lines = Sources::used_lines(kernel, kernel_trace);
  for (std::size_t i = 0; i < report.fit.arrays.size(); ++i) {
    const fit::ArrayFit& array = report.fit.arrays[i];
    const std::uint32_t first = array.arrays.front();
    report.sources[i] = Sources::find_in_own_text(trace, kernel_trace, kernel_trace.arrays[first], used_lines[first]);
    if (report.sources[i]) set_edits(kernel_trace.arrays, array, *report.sources[i]);
  }
  part_overlapping(report);
}

FixedSources fixed_sources(const std::vector<KernelReport>& kernels, const std::vector<KernelFitReport>& fits,
                           bool by_text) {
  FixedSources fixed;
  std::map<std::string, std::string> texts;
  Edits accepted;
  for (std::size_t k = 0; k < fits.size(); ++k) {
    if (!changes_something(fits[k].fit)) continue;
    const auto answer = edits_of_kernel(fits[k], texts, by_text);
    if (const auto* why = std::get_if<std::string>(&answer)) {
      fixed.left_out.push_back(fmt::format("{}: {}", kernels[k].name, *why));
      continue;
    }
    const auto& edits = std::get<Edits>(answer);
    const bool clash = std::ranges::any_of(edits, [&](const auto& file) {
      return std::ranges::any_of(file.second, [&](const fit::Edit& edit) {
        return std::any_of(accepted[file.first].begin(), accepted[file.first].end(),
                           [&](const fit::Edit& other) { return overlap(edit, other); });
      });
    });
    if (clash) {
      fixed.left_out.push_back(fmt::format("{}: another kernel needs other code in its place", kernels[k].name));
      continue;
    }
    fixed.kernels.push_back(k);
    for (const auto& [path, some] : edits) {
      for (const fit::Edit& edit : some) {
        auto& list = accepted[path];
        if (std::ranges::find(list, edit) == list.end()) list.push_back(edit);
      }
    }
  }
  for (const auto& [path, edits] : accepted) {
    if (!edits.empty()) fixed.files[path] = fit::edited(texts.at(path), edits);
  }
  return fixed;
}

}  // namespace bankwise::driver
