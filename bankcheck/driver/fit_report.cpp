#include "bankcheck/driver/fit_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <stdexcept>

#include <bankwise/support/exit_code.hpp>
#include <bankwise/support/files.hpp>
#include "bankcheck/driver/fit_code.hpp"
#include "bankcheck/fit/functions.hpp"
#include "bankcheck/fit/source_constants.hpp"

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
      const SourcePlace place = placed_line(kernel, site).place;
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
      static const std::vector<std::string_view> none;
      const auto& headers = path.empty() ? none : headers_of(path);
      if (auto source = declared_in(path, text_of(path), used_array, lines, kernel_trace, headers)) {
        note_launches(*source);
        return source;
      }
    }
    return find_in_own_text(trace_, kernel_trace, used_array, files);
  }

  static std::optional<ArraySource> find_in_own_text(const trace::Trace& trace, const trace::KernelTrace& kernel_trace,
                                                     const trace::Array& used_array, const UsedLines& files) {
    if (kernel_trace.source == trace::no_source) return std::nullopt;
    const auto own = files.find("");
    return declared_in("", trace.sources.at(kernel_trace.source), used_array,
                       own == files.end() ? std::set<unsigned>() : own->second, kernel_trace, {});
  }

 private:
  /// An array whose bytes the launch gives needs to know where its kernel is launched besides its own file.
  void note_launches(ArraySource& source) {
    fit::Declaration& declaration = source.declaration;
    if (!declaration.dimensions.front().empty() || declaration.function.empty() || source.path.empty()) return;
    const auto [files, is_new] = naming_.try_emplace(declaration.function);
    if (is_new) files->second = finder_.containing(declaration.function);
    for (const std::string& path : files->second) {
      std::error_code error;
      if (std::filesystem::equivalent(path, source.path, error)) continue;
      const std::size_t line = fit::line_of_launch(source_file_text(path), declaration.function);
      if (line == 0) continue;
      declaration.launched_in = fmt::format("{}:{}", path, line);
      return;
    }
  }
  const std::string& text_of(const std::string& path) {
    const auto [text, is_new] = texts_.try_emplace(path);
    if (is_new && !path.empty()) text->second = source_file_text(path);
    return text->second;
  }
  /// The texts that a file includes with quotation marks, and those that they include: before the text that needs it.
  const std::vector<std::string_view>& headers_of(const std::string& path) {
    const auto [headers, is_new] = headers_.try_emplace(path);
    if (is_new) add_headers(path, text_of(path), headers->second);
    return headers->second;
  }
  void add_headers(const std::string& path, std::string_view text, std::vector<std::string_view>& headers) {
    constexpr std::size_t most_headers = 64;
    for (const std::string_view name : fit::included_by(text)) {
      const std::string header = (std::filesystem::path(path).parent_path() / name).lexically_normal().string();
      const std::string_view inside = text_of(finder_.path_of(header, true));
      const bool is_known = std::ranges::any_of(headers, [&](std::string_view other) { return other == inside; });
      if (inside.empty() || is_known || headers.size() >= most_headers) continue;
      headers.push_back(inside);  // once, also if two files include each other
      const std::size_t place = headers.size() - 1;
      add_headers(header, inside, headers);
      std::rotate(headers.begin() + std::ptrdiff_t(place), headers.begin() + std::ptrdiff_t(place) + 1, headers.end());
    }
  }
  static std::array<std::uint64_t, 3> largest_block(const trace::KernelTrace& kernel) {
    std::array<std::uint64_t, 3> block{};
    for (const trace::LaunchShape& shape : kernel.shapes) {
      for (std::size_t d = 0; d < block.size(); ++d) block[d] = std::max<std::uint64_t>(block[d], shape.block[d]);
    }
    return block;
  }
  static std::optional<ArraySource> declared_in(const std::string& path, const std::string& text,
                                                const trace::Array& array, const std::set<unsigned>& lines,
                                                const trace::KernelTrace& kernel,
                                                const std::vector<std::string_view>& headers) {
    fit::SoughtArray sought{.name = array.name,
                            .lines = {lines.begin(), lines.end()},
                            .bytes = array.bytes,
                            .element = array.element,
                            .lengths = {array.lengths.begin(), array.lengths.end()},
                            .options = kernel.options,
                            .kernel = kernel.kernel,
                            .headers = headers,
                            .block = largest_block(kernel)};
    auto declaration = fit::find_declaration(text, sought);
    if (!declaration) return std::nullopt;
    return ArraySource{path, text, std::move(*declaration), "nothing is changed"};
  }

  const trace::Trace& trace_;
  const SourceFinder& finder_;
  std::map<std::string, std::string> texts_;
  std::map<std::string, std::vector<std::string_view>> headers_;  // of texts_, by path
  std::map<std::string, std::vector<std::string>> naming_;        // the files that name a function
};

/// As far as the code says it. Nothing: what the accesses suggest.
std::optional<fit::ArrayShape> shape_of(const trace::Array& array, const std::optional<ArraySource>& source,
                                        bool is_opencl) {
  constexpr std::size_t inferred = 2;  // dimensions, at most
  const fit::ArrayShape one_index{0, {}};
  const bool is_known = source && source->declaration.element > 0 &&
                        source->declaration.lengths.size() == source->declaration.dimensions.size();
  if (is_known && source->declaration.pitch > 0) {
    const std::uint64_t pitch = source->declaration.pitch;
    return fit::ArrayShape{source->declaration.element, {source->declaration.lengths.front() / pitch, pitch}};
  }
  if (is_known) return fit::ArrayShape{source->declaration.element, source->declaration.lengths};
  if (array.element > 0 && !array.lengths.empty()) {
    return fit::ArrayShape{array.element, {array.lengths.begin(), array.lengths.end()}};
  }
  if (!source) return is_dynamic(array.name, source, is_opencl) ? std::optional(one_index) : std::nullopt;
  const fit::Declaration& declaration = source->declaration;
  const bool has_rows = declaration.dimensions.size() == inferred && !is_dynamic(array.name, source, is_opencl);
  return has_rows ? std::nullopt : std::optional(one_index);
}

bool has_shorter_rows(const fit::Change& change) { return change.rows.to < change.rows.from; }

using Edits = std::variant<std::vector<fit::Edit>, std::string>;

/// Whether the edits of a change also make it for another instance of the template.
bool fits_instance(const fit::ArrayFit& array, const ArraySource& source, const Edits& edits,
                   const std::pair<fit::Declaration, fit::ArrayShape>& instance) {
  const auto change = same_code(array.after().option.change, array.shape, instance.second);
  return change && edits_of(source.text, instance.first, *change, instance.second) == edits;
}

/// Why the other kernels that use a declaration do not allow these edits of it; "" if they do.
std::string refusal_of_others(const fit::ArrayFit& array, const ArraySource& source, const Edits& edits) {
  const fit::Change& change = array.after().option.change;
  for (const auto& instance : source.instances) {
    if (fits_instance(array, source, edits, instance)) continue;
    return fmt::format("line {}: instances of this template have other lengths; specialize it first",
                       source.declaration.line);
  }
  if (has_shorter_rows(change) && (source.used_row == 0 || source.used_row > change.rows.to)) {
    return fmt::format("line {}: another kernel uses the columns that would be dropped; leave the rows as they are",
                       source.declaration.line);
  }
  return "";
}

/// What `--fit` writes for an array's change.
void set_edits(const std::vector<trace::Array>& arrays, const fit::ArrayFit& array, ArraySource& source) {
  if (array.chosen == 0) return;
  std::set<std::string> names;
  for (const std::uint32_t each : array.arrays) names.insert(arrays[each].name);
  if (names.size() > 1) {
    source.edits = fmt::format("line {}: {} arrays must change alike; make the same change in each by hand",
                               source.declaration.line, names.size());
    return;
  }
  const fit::Change& change = array.after().option.change;
  const std::uint64_t block =
      change.swizzle.bits == 0 ? 1 : std::uint64_t{1} << (change.swizzle.base + change.swizzle.bits);
  const auto is_torn = [&](std::uint32_t each) { return arrays[each].bytes % block != 0; };
  if (source.declaration.is_parameter && std::ranges::any_of(array.arrays, is_torn)) {
    source.edits = fmt::format("line {}: the launch must give this array a multiple of {} bytes; change both by hand",
                               source.declaration.line, block);
    return;
  }
  source.edits = edits_of(source.text, source.declaration, change, array.shape);
  if (std::holds_alternative<std::string>(source.edits)) return;
  std::string why = refusal_of_others(array, source, source.edits);
  if (!why.empty()) source.edits = std::move(why);
}

bool overlap(const fit::Edit& a, const fit::Edit& b) { return a != b && a.begin < b.end && b.begin < a.end; }

bool overlap(const Edits& a, const Edits& b) {
  const auto* first = std::get_if<std::vector<fit::Edit>>(&a);
  const auto* second = std::get_if<std::vector<fit::Edit>>(&b);
  if (first == nullptr || second == nullptr) return false;
  return std::ranges::any_of(*first, [&](const fit::Edit& edit) {
    return std::ranges::any_of(*second, [&](const fit::Edit& other) { return overlap(edit, other); });
  });
}

unsigned line_of(const ArraySource& source, std::size_t offset) {
  return unsigned(1 + std::ranges::count(std::string_view(source.text).substr(0, offset), '\n'));
}

/// An index of one changed array that reads another one: the two edits cannot both be made.
void part_overlapping(KernelFitReport& report) {
  for (auto source = report.sources.begin(); source != report.sources.end(); ++source) {
    const auto* edits = *source ? std::get_if<std::vector<fit::Edit>>(&(*source)->edits) : nullptr;
    if (edits == nullptr) continue;
    std::optional<std::size_t> place;
    for (auto earlier = report.sources.begin(); earlier != source; ++earlier) {
      const auto* others = *earlier ? std::get_if<std::vector<fit::Edit>>(&(*earlier)->edits) : nullptr;
      if (others == nullptr || (*earlier)->path != (*source)->path) continue;
      const auto inside = std::ranges::find_if(*edits, [&](const fit::Edit& edit) {
        return std::ranges::any_of(*others, [&](const fit::Edit& other) { return overlap(edit, other); });
      });
      if (inside != edits->end()) place = inside->begin;
    }
    if (!place) continue;
    (*source)->edits = fmt::format(
        "line {}: the index of a changed array reads another changed array; read that element into a "
        "variable first",
        line_of(**source, *place));
  }
}

void set_all_edits(KernelFitReport& report) {
  for (std::size_t i = 0; i < report.sources.size(); ++i) {
    if (report.sources[i]) set_edits(report.fit.places, report.fit.arrays[i], *report.sources[i]);
  }
  part_overlapping(report);
}

/// Why the changes of a kernel cannot all be made in files, or in texts without one; "" if they can.
std::string refusal_of(const KernelFitReport& report, bool by_text) {
  for (std::size_t i = 0; i < report.fit.arrays.size(); ++i) {
    const fit::ArrayFit& array = report.fit.arrays[i];
    if (array.chosen == 0) continue;
    const auto& source = report.sources[i];
    if (!source) return fmt::format("the declaration of {} was not found; see --sources", array.name);
    if (source->path.empty() && !by_text) {
      return fmt::format("{} is not declared in a file below the directory of --sources", array.name);
    }
    if (const auto* why = std::get_if<std::string>(&source->edits)) return fmt::format("{}: {}", array.name, *why);
  }
  return "";
}

/// Where an array is declared: the file, or the text without one, and the place.
using Place = std::pair<std::string_view, std::size_t>;
Place place_of(const ArraySource& source) {
  return {source.path.empty() ? source.text : source.path, source.declaration.at};
}

/// The arrays of all kernels, by where they are declared.
using ArrayNumber = std::pair<std::size_t, std::size_t>;  // of the report and of its array
std::map<Place, std::vector<ArrayNumber>> arrays_by_place(const std::vector<KernelFitReport>& reports) {
  std::map<Place, std::vector<ArrayNumber>> arrays;
  for (std::size_t k = 0; k < reports.size(); ++k) {
    for (std::size_t i = 0; i < reports[k].sources.size(); ++i) {
      if (reports[k].sources[i]) arrays[place_of(*reports[k].sources[i])].emplace_back(k, i);
    }
  }
  return arrays;
}

/// Tells each source what the other kernels need of its declaration. Instances of a template may give an array other
/// lengths, and a kernel may use columns that another one does not.
void share_declarations(std::vector<KernelFitReport>& reports) {
  for (const auto& [place, numbers] : arrays_by_place(reports)) {
    std::map<std::pair<std::uint64_t, std::vector<std::uint64_t>>, ArrayNumber> shapes;
    std::uint32_t used_row = 0;
    bool whole_row = false;
    for (const auto& [k, i] : numbers) {
      const fit::ArrayFit& array = reports[k].fit.arrays[i];
      shapes.try_emplace({array.shape.element, array.shape.lengths}, k, i);
      used_row = std::max(used_row, array.facts.bounds.used_row);
      whole_row |= array.facts.bounds.used_row == 0;
    }
    for (const auto& [k, i] : numbers) {
      ArraySource& source = *reports[k].sources[i];
      source.used_row = whole_row ? 0 : used_row;
      for (const auto& [shape, other] : shapes) {
        const fit::ArrayShape& own = reports[k].fit.arrays[i].shape;
        if (shape == std::pair(own.element, own.lengths)) continue;
        source.instances.emplace_back(reports[other.first].sources[other.second]->declaration,
                                      fit::ArrayShape{shape.first, shape.second});
      }
    }
  }
}

/// The rows of an array of one dimension count only if they are the same ones for all kernels that it serves.
void keep_common_rows(std::vector<std::map<std::uint32_t, ArraySource>>& kernels) {
  std::map<Place, std::vector<ArraySource*>> by_place;
  for (auto& arrays : kernels) {
    for (auto& [number, source] : arrays) by_place[place_of(source)].push_back(&source);
  }
  for (const auto& [place, sources] : by_place) {
    const auto& rows = sources.front()->declaration.row_indices;
    const auto has_these = [&](const ArraySource* source) { return source->declaration.row_indices == rows; };
    if (std::ranges::all_of(sources, has_these)) continue;
    for (ArraySource* source : sources) {
      source->declaration.pitch = 0;
      source->declaration.row_indices.clear();
    }
  }
}

/// Joins the places of arrays that are tied to each other.
std::map<Place, std::vector<ArrayNumber>> arrays_to_change_alike(const std::vector<KernelFitReport>& reports) {
  auto arrays = arrays_by_place(reports);
  for (auto place = arrays.begin(); place != arrays.end();) {
    const auto& [k, i] = place->second.front();
    const auto& tied = reports[k].sources[i]->declaration.tied;
    const auto other = std::ranges::find_if(arrays, [&](const auto& each) {
      const bool is_later = each.first.first == place->first.first && each.first.second > place->first.second;
      return is_later && std::ranges::find(tied, each.first.second, &fit::Declaration::Tie::at) != tied.end();
    });
    if (other != arrays.end()) {
      other->second.insert(other->second.end(), place->second.begin(), place->second.end());
      place = arrays.erase(place);
    } else {
      ++place;
    }
  }
  return arrays;
}

/// Gives one change to the arrays of several kernels that one declaration, macro or function serves.
void choose_for_declarations(std::vector<KernelFitReport>& reports, const trace::Trace& trace,
                             const std::vector<KernelReport>& kernels, const fit::Architectures& architectures) {
  std::set<std::size_t> changed;
  for (const auto& [place, numbers] : arrays_to_change_alike(reports)) {
    if (numbers.size() < 2) continue;
    std::vector<fit::SharedArray> shared;
    for (const auto& [k, i] : numbers) {
      shared.push_back({&trace.kernels[kernels[k].number], &reports[k].fit, i});
      changed.insert(k);
    }
    const auto edits = [&, &numbers = numbers](std::size_t n, const fit::Change& change) {
      const ArraySource& source = *reports[numbers[n].first].sources[numbers[n].second];
      return edits_of(source.text, source.declaration, change, shared[n].kernel->arrays[shared[n].number].shape);
    };
    choose_alike(shared, architectures, [&](const std::vector<fit::Change>& changes) {
      std::map<std::size_t, Edits> first;  // by place
      for (std::size_t n = 0; n < changes.size(); ++n) {
        const std::size_t at = reports[numbers[n].first].sources[numbers[n].second]->declaration.at;
        const Edits all = edits(n, changes[n]);
        if (first.try_emplace(at, all).first->second != all) return false;
      }
      return true;
    });
  }
  for (const std::size_t k : changed) {
    settle(reports[k].fit, trace.kernels[kernels[k].number], architectures);
    std::ranges::for_each(reports[k].fit.after, sort_by_place);
  }
}

/// Why a kernel's edits cannot be made: they also serve an array that does not get the same change. `refusals`: those
/// of all kernels; "" if there is none.
std::string refusal_by_ties(const std::vector<KernelFitReport>& reports,
                            const std::map<Place, std::vector<ArrayNumber>>& arrays,
                            const std::vector<std::string>& refusals, const KernelFitReport& report) {
  for (std::size_t i = 0; i < report.sources.size(); ++i) {
    const auto& source = report.sources[i];
    const fit::ArrayFit& own = report.fit.arrays[i];
    if (own.chosen == 0 || !source) continue;
    const fit::Change& change = own.after().option.change;
    const auto gets_change = [&](const ArrayNumber& number) {
      const fit::ArrayFit& other = reports[number.first].fit.arrays[number.second];
      const Edits& edits = reports[number.first].sources[number.second]->edits;
      return refusals[number.first].empty() && !overlap(edits, source->edits) &&
             same_code(change, own.shape, other.shape) == other.after().option.change;
    };
    for (const fit::Declaration::Tie& tie : source->declaration.tied) {
      if (tie.by_macro && form_of(change, own.shape) == fit::IndexForm::rows) continue;  // the macro stays as it is
      const auto others = arrays.find({place_of(*source).first, tie.at});
      if (others != arrays.end() && std::ranges::all_of(others->second, gets_change)) continue;
      return fmt::format(
          "{}: line {}: the same {} serves the array of line {}, which does not get this change; write a "
          "copy of it first",
          own.name, source->declaration.line, tie.by_macro ? "macro" : "function", line_of(*source, tie.at));
    }
  }
  return "";
}

/// Why each kernel's changes cannot be made; "" if they can, or if there are none.
std::vector<std::string> refusals_of(const std::vector<KernelFitReport>& reports, bool by_text) {
  std::vector<std::string> refusals;
  for (const KernelFitReport& report : reports) refusals.push_back(refusal_of(report, by_text));
  const auto arrays = arrays_by_place(reports);
  for (bool changes = true; changes;) {
    changes = false;
    for (std::size_t k = 0; k < reports.size(); ++k) {
      if (!refusals[k].empty()) continue;
      refusals[k] = refusal_by_ties(reports, arrays, refusals, reports[k]);
      changes |= !refusals[k].empty();
    }
  }
  return refusals;
}

/// Whether an edit of one list would be made in the place of another edit.
bool clash(const EditedFiles& edits, const EditedFiles& accepted, std::string& place) {
  for (const auto& [path, file] : edits) {
    const auto others = accepted.find(path);
    if (others == accepted.end()) continue;
    for (const fit::Edit& edit : file.edits) {
      const bool clashes =
          std::ranges::any_of(others->second.edits, [&](const fit::Edit& other) { return overlap(edit, other); });
      if (!clashes) continue;
      place = fmt::format("line {}",
                          1 + std::count(file.text.begin(), file.text.begin() + std::ptrdiff_t(edit.begin), '\n'));
      return true;
    }
  }
  return false;
}

}  // namespace

std::vector<KernelFitReport> fit_reports(const trace::Trace& trace, const std::vector<KernelReport>& kernels,
                                         const fit::Architectures& architectures, const FitOptions& options,
                                         const SourceFinder& finder, bool incomplete) {
  Sources sources(trace, finder);
  using DeclaredArrays = std::map<std::uint32_t, ArraySource>;
  std::vector<DeclaredArrays> declared_by_kernel;
  for (const KernelReport& kernel : kernels) {
    const trace::KernelTrace& kernel_trace = trace.kernels[kernel.number];
    DeclaredArrays& declared = declared_by_kernel.emplace_back();
    const auto used_lines = Sources::used_lines(kernel, kernel_trace);
    for (std::uint32_t array = 0; array < kernel_trace.arrays.size(); ++array) {
      auto source = sources.find(kernel_trace, kernel_trace.arrays[array], used_lines[array]);
      if (source) declared.emplace(array, std::move(*source));
    }
  }
  keep_common_rows(declared_by_kernel);
  std::vector<KernelFitReport> reports;
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    const trace::KernelTrace& kernel_trace = trace.kernels[kernels[k].number];
    KernelFitReport& report = reports.emplace_back();
    report.is_opencl = kernel_trace.source != trace::no_source || trace.maker == trace::Maker::opencl;
    const DeclaredArrays& declared = declared_by_kernel[k];
    fit::KnownShapes shapes;
    for (std::uint32_t array = 0; array < kernel_trace.arrays.size(); ++array) {
      const auto declaration = declared.find(array);
      const auto source = declaration == declared.end() ? std::nullopt : std::optional(declaration->second);
      if (auto shape = shape_of(kernel_trace.arrays[array], source, report.is_opencl)) shapes[array] = *shape;
    }
    try {
      report.fit =
          fit_kernel(kernel_trace, architectures, shapes, {options.max_shared, options.keep_occupancy, !incomplete});
    } catch (const std::invalid_argument& why) {
      throw support::UsageError(why.what());
    }
    adapt_cures(report, kernels[k], trace.maker);
    for (auto* side : {&report.fit.before, &report.fit.after}) std::ranges::for_each(*side, sort_by_place);
    for (fit::ArrayFit& array : report.fit.arrays) {
      if (incomplete) array.doubts.emplace_back("the trace is incomplete");
      auto& source = report.sources.emplace_back();
      const auto declaration = declared.find(array.arrays.front());
      if (declaration == declared.end()) continue;
      source = declaration->second;
    }
  }
  choose_for_declarations(reports, trace, kernels, architectures);
  share_declarations(reports);
  for (KernelFitReport& report : reports) set_all_edits(report);
  return reports;
}

void choose(KernelFitReport& report, const std::vector<fit::PricedOption>& options) {
  for (std::size_t i = 0; i < report.fit.arrays.size(); ++i) {
    fit::ArrayFit& array = report.fit.arrays[i];
    array.options.push_back(options[i]);
    const bool is_changed = options[i].option.change != fit::Change();
    array.chosen = is_changed ? array.options.size() - 1 : 0;
  }
  set_all_edits(report);
}

void declare_in_own_text(KernelFitReport& report, const KernelReport& kernel, const trace::Trace& trace) {
  const trace::KernelTrace& kernel_trace = trace.kernels[kernel.number];
  const auto used_lines = Sources::used_lines(kernel, kernel_trace);
  for (std::size_t i = 0; i < report.fit.arrays.size(); ++i) {
    const std::uint32_t first = report.fit.arrays[i].arrays.front();
    auto own = Sources::find_in_own_text(trace, kernel_trace, kernel_trace.arrays[first], used_lines[first]);
    if (own && report.sources[i]) {
      own->instances = report.sources[i]->instances;
      own->used_row = report.sources[i]->used_row;
    }
    report.sources[i] = std::move(own);
  }
  set_all_edits(report);
}

EditedFiles edited_files(const KernelFitReport& report, bool by_text) {
  EditedFiles files;
  for (std::size_t i = 0; i < report.fit.arrays.size(); ++i) {
    const auto& source = report.sources[i];
    const auto* edits = source ? std::get_if<std::vector<fit::Edit>>(&source->edits) : nullptr;
    if (report.fit.arrays[i].chosen == 0 || edits == nullptr) continue;
    fit::EditedFile& file = files[by_text ? source->text : source->path];
    file.text = source->text;
    file.add(*edits);
  }
  return files;
}

FixedSources fixed_sources(const std::vector<KernelReport>& kernels, const std::vector<KernelFitReport>& fits,
                           bool by_text) {
  FixedSources fixed;
  const std::vector<std::string> refusals = refusals_of(fits, by_text);
  for (std::size_t k = 0; k < fits.size(); ++k) {
    if (!changes_something(fits[k].fit)) continue;
    const auto leave_out = [&](const std::string& why) {
      fixed.left_out.push_back(fmt::format("{}: {}", kernels[k].name, why));
    };
    const std::string& refusal = refusals[k];
    const EditedFiles edits = edited_files(fits[k], by_text);
    std::string place;
    if (!refusal.empty()) {
      leave_out(refusal);
    } else if (clash(edits, fixed.edits, place)) {
      leave_out(fmt::format("{}: another kernel needs other code there; write a copy of it first", place));
    } else {
      fixed.kernels.push_back(k);
      for (const auto& [path, file] : edits) {
        fixed.edits[path].text = file.text;
        fixed.edits[path].add(file.edits);
      }
    }
  }
  for (const auto& [path, file] : fixed.edits) {
    if (!file.edits.empty()) fixed.files[path] = fit::edited(file.text, file.edits);
  }
  return fixed;
}

}  // namespace bankwise::driver
