// SPDX-License-Identifier: MIT
#include "bankcheck/driver/fit_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>

#include <bankwise/support/exit_code.hpp>
#include <bankwise/support/files.hpp>

namespace bankwise::driver {
namespace {

/// The text of a file, "" if it cannot be read or is larger than 4 MiB.
std::string read_source(const std::filesystem::path& path) {
  constexpr std::uintmax_t largest = std::uintmax_t{4} << 20;
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error) || std::filesystem::file_size(path, error) > largest) return "";
  return read_file(path).value_or("");
}

class Sources {
 public:
  Sources(const trace::Trace& trace, const std::filesystem::path& folder) : trace_(trace), folder_(folder) {}

  std::optional<ArraySource> find(const KernelReport& kernel, const trace::KernelTrace& kernel_trace,
                                  std::uint32_t array) {
    // The last line that uses the array, in each file.
    std::map<std::string, unsigned> files;
    for (const trace::Pattern& pattern : kernel_trace.patterns) {
      if (pattern.array != array) continue;
      const SourcePlace place = place_of(kernel, kernel_trace.sites[pattern.site]);
      files[place.file] = std::max(files[place.file], place.line);
    }
    const trace::Array& used_array = kernel_trace.arrays[array];
    for (const auto& [file, last_line] : files) {
      const std::string path = path_of(file);
      if (auto source = declared_in(path, text_of(path), used_array, last_line, kernel_trace.options)) return source;
    }
    if (kernel_trace.source == trace::no_source) return std::nullopt;
    return declared_in("", trace_.sources.at(kernel_trace.source), used_array, 0, kernel_trace.options);
  }

 private:
  /// Where the user finds a site: the report has looked for it.
  static SourcePlace place_of(const KernelReport& kernel, const trace::Site& site) {
    for (std::size_t i = 0; i < kernel.reports.front().lines.size(); ++i) {
      if (kernel.reports.front().lines[i].site == site) return kernel.lines.front()[i].place;
    }
    return {site.file, site.line, site.column};
  }
  std::string path_of(const std::string& file) const {
    for (const std::filesystem::path& path : {std::filesystem::path(file), folder_ / file}) {
      std::error_code error;
      if (std::filesystem::is_regular_file(path, error)) return path.string();
    }
    return "";
  }
  const std::string& text_of(const std::string& path) {
    const auto [text, is_new] = texts_.try_emplace(path);
    if (is_new && !path.empty()) text->second = read_source(path);
    return text->second;
  }
  static std::optional<ArraySource> declared_in(const std::string& path, const std::string& text,
                                                const trace::Array& array, unsigned last_line,
                                                const std::string& options) {
    auto declaration = fit::find_declaration(text, array.name, last_line, array.bytes, options);
    if (!declaration) return std::nullopt;
    return ArraySource{path, text, std::move(*declaration), "nothing is changed"};
  }

  const trace::Trace& trace_;
  const std::filesystem::path& folder_;
  std::map<std::string, std::string> texts_;
};

/// What `--fit` writes for an array's change.
void set_edits(const trace::KernelTrace& kernel, const fit::ArrayFit& array, ArraySource& source) {
  if (array.chosen == 0) return;
  std::set<std::string> names;
  for (const std::uint32_t each : array.arrays) names.insert(kernel.arrays[each].name);
  if (names.size() > 1) {
    source.edits = "several arrays are changed together";
  } else {
    source.edits = edits_of(source.text, source.declaration, array.after().option.change, array.shape);
  }
}

}  // namespace

std::vector<KernelFitReport> fit_reports(const trace::Trace& trace, const std::vector<KernelReport>& kernels,
                                         const fit::Architectures& architectures, const FitOptions& options,
                                         const std::filesystem::path& folder, bool incomplete) {
  Sources sources(trace, folder);
  std::vector<KernelFitReport> reports;
  for (const KernelReport& kernel : kernels) {
    const trace::KernelTrace& kernel_trace = trace.kernels[kernel.number];
    KernelFitReport& report = reports.emplace_back();
    report.is_opencl = kernel_trace.source != trace::no_source || trace.maker == trace::Maker::opencl;
    std::map<std::uint32_t, ArraySource> declared;
    fit::KnownShapes shapes;
    for (std::uint32_t array = 0; array < kernel_trace.arrays.size(); ++array) {
      auto source = sources.find(kernel, kernel_trace, array);
      if (!source) continue;
      const fit::Declaration& declaration = source->declaration;
      if (declaration.element > 0 && declaration.lengths.size() == declaration.dimensions.size()) {
        shapes[array] = {declaration.element, declaration.lengths};
      }
      declared.emplace(array, std::move(*source));
    }
    try {
      report.fit = fit_kernel(kernel_trace, architectures, shapes, {options.max_shared, options.keep_occupancy});
    } catch (const std::invalid_argument& why) {
      throw UsageError(why.what());
    }
    for (fit::ArrayFit& array : report.fit.arrays) {
      if (incomplete) array.doubts.emplace_back("the trace is incomplete");
      auto& source = report.sources.emplace_back();
      const auto declaration = declared.find(array.arrays.front());
      if (declaration == declared.end()) continue;
      source = declaration->second;
      set_edits(kernel_trace, array, *source);
    }
  }
  return reports;
}

}  // namespace bankwise::driver
