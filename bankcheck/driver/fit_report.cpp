#include "bankcheck/driver/fit_report.hpp"

#include <algorithm>
#include <set>
#include <stdexcept>

#include <bankwise/support/exit_code.hpp>

namespace bankwise::driver {
namespace {

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

/// Leaves the bases that indices have for all kernels that an array serves, with the bits of all of their rests.
void keep_common_bases(const std::vector<ArraySource*>& sources) {
  std::vector<fit::BasedIndex> common = sources.front()->declaration.based_indices;
  for (const ArraySource* source : sources) {
    std::erase_if(common, [&](fit::BasedIndex& index) {
      const auto& others = source->declaration.based_indices;
      const auto other = std::ranges::find(others, index.at, &fit::BasedIndex::at);
      if (other == others.end()) return true;
      index.rest_bits |= other->rest_bits;
      return other->base != index.base || other->rest != index.rest;
    });
  }
  for (ArraySource* source : sources) source->declaration.based_indices = common;
}

/// The rows of an array of one dimension, and the bases of its indices, count only if they are the same ones for all
/// kernels that it serves, and rows for the arrays that the same macro serves.
void keep_common_indices(std::vector<std::map<std::uint32_t, ArraySource>>& kernels) {
  std::map<Place, std::vector<ArraySource*>> by_place;
  for (auto& arrays : kernels) {
    for (auto& [number, source] : arrays) by_place[place_of(source)].push_back(&source);
  }
  for (const auto& [place, own] : by_place) {
    keep_common_bases(own);
    std::vector<ArraySource*> sources = own;
    for (const fit::Declaration::Tie& tie : own.front()->declaration.tied) {
      const auto others = by_place.find({place.first, tie.at});
      if (others != by_place.end()) sources.insert(sources.end(), others->second.begin(), others->second.end());
    }
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

/// Whether the source allows the change that was chosen for an array, or there is none. An argument of an OpenCL kernel
/// needs a launch that is changed by hand, or has the right length.
bool can_write(const KernelFitReport& report, std::size_t number) {
  const fit::ArrayFit& array = report.fit.arrays[number];
  const ArraySource& source = *report.sources[number];
  if (array.chosen == 0 || source.declaration.is_parameter) return true;
  const Edits edits = edits_of(source.text, source.declaration, array.after().option.change, array.shape);
  return std::holds_alternative<std::vector<fit::Edit>>(edits);
}

/// Gives one change to the arrays of several kernels that one declaration, macro or function serves, and to each other
/// array one that can be written.
void choose_for_declarations(std::vector<KernelFitReport>& reports, const trace::Trace& trace,
                             const std::vector<KernelReport>& kernels, const fit::Architectures& architectures) {
  std::set<std::size_t> changed;
  for (const auto& [place, numbers] : arrays_to_change_alike(reports)) {
    std::vector<fit::SharedArray> shared;
    if (numbers.size() == 1 && can_write(reports[numbers[0].first], numbers[0].second)) continue;
    for (const auto& [k, i] : numbers) {
      shared.push_back({&trace.kernels[kernels[k].number], &reports[k].fit, i});
      changed.insert(k);
    }
    const auto edits = [&, &numbers = numbers](std::size_t n, const fit::Change& change) {
      const ArraySource& source = *reports[numbers[n].first].sources[numbers[n].second];
      return edits_of(source.text, source.declaration, change, shared[n].kernel->arrays[shared[n].number].shape);
    };
    choose_alike(shared, architectures, [&, &numbers = numbers](const std::vector<fit::Change>& changes) {
      std::map<std::size_t, Edits> first;  // by place
      for (std::size_t n = 0; n < changes.size(); ++n) {
        const std::size_t at = reports[numbers[n].first].sources[numbers[n].second]->declaration.at;
        const Edits all = edits(n, changes[n]);
        if (first.try_emplace(at, all).first->second != all) return fit::OneText::no;
      }
      const bool is_refused =
          std::ranges::any_of(first, [](const auto& text) { return std::holds_alternative<std::string>(text.second); });
      return is_refused ? fit::OneText::refused : fit::OneText::written;
    });
  }
  for (const std::size_t k : changed) {
    settle(reports[k].fit, trace.kernels[kernels[k].number], architectures);
    std::ranges::for_each(reports[k].fit.after, sort_by_place);
  }
}

/// Proposes sequential addressing for trees of sums, if it is proved for all kernels that use the declaration.
void choose_sequential_addressing(std::vector<KernelFitReport>& reports, const trace::Trace& trace,
                                  const std::vector<KernelReport>& kernels, const fit::Architectures& architectures) {
  constexpr auto kind = fit::CureKind::sequential_addressing;
  for (const auto& [place, numbers] : arrays_to_change_alike(reports)) {
    const ArraySource& source = *reports[numbers.front().first].sources[numbers.front().second];
    const auto cure_of = [&](const ArrayNumber& number) {
      auto& cures = reports[number.first].fit.cures;
      return std::ranges::find_if(cures, [&](const fit::Cure& cure) {
        return cure.kind == kind && cure.array == reports[number.first].fit.arrays[number.second].name;
      });
    };
    const bool is_proved = std::ranges::all_of(
        numbers, [&](const ArrayNumber& number) { return cure_of(number) != reports[number.first].fit.cures.end(); });
    const auto edits = is_proved ? sequential_edits(source.text, source.declaration) : Edits("not proved");
    if (std::holds_alternative<std::string>(edits) || !source.declaration.tied.empty()) continue;
    for (const auto& number : numbers) {
      KernelFitReport& report = reports[number.first];
      choose_sequential(report.fit.arrays[number.second], *cure_of(number));
      report.fit.cures.erase(cure_of(number));
      settle(report.fit, trace.kernels[kernels[number.first].number], architectures);
      std::ranges::for_each(report.fit.after, sort_by_place);
    }
  }
}

using DeclaredArrays = std::map<std::uint32_t, ArraySource>;  // by the array's number

/// For each kernel, the arrays whose declarations are found.
std::vector<DeclaredArrays> declared_arrays(const trace::Trace& trace, const std::vector<KernelReport>& kernels,
                                            const SourceFinder& finder) {
  ArraySources sources(trace, finder);
  std::vector<DeclaredArrays> declared_by_kernel;
  for (const KernelReport& kernel : kernels) {
    const trace::KernelTrace& kernel_trace = trace.kernels[kernel.number];
    DeclaredArrays& declared = declared_by_kernel.emplace_back();
    const std::vector<UsedLines> lines = used_lines(kernel, kernel_trace);
    for (std::uint32_t array = 0; array < kernel_trace.arrays.size(); ++array) {
      auto source = sources.find(kernel_trace, kernel_trace.arrays[array], lines[array]);
      if (source) declared.emplace(array, std::move(*source));
    }
  }
  keep_common_indices(declared_by_kernel);
  return declared_by_kernel;
}

/// The declared array with this number, if there is one.
std::optional<ArraySource> source_of(const DeclaredArrays& declared, std::uint32_t array) {
  const auto declaration = declared.find(array);
  return declaration == declared.end() ? std::nullopt : std::optional(declaration->second);
}

fit::KnownShapes known_shapes(const KernelReport& kernel, const trace::KernelTrace& kernel_trace, trace::Maker maker,
                              bool is_opencl, const DeclaredArrays& declared) {
  fit::KnownShapes shapes;
  for (std::uint32_t array = 0; array < kernel_trace.arrays.size(); ++array) {
    const auto source = source_of(declared, array);
    auto shape = shape_of(kernel_trace.arrays[array], source, is_opencl);
    if (!shape) continue;
    if (maker == trace::Maker::cuda && source) {
      shape->merges = source->one_by_one && shape->element == source->declaration.element;
      shape->compiled = compiled_loads(kernel, kernel_trace, kernel_trace.arrays[array], *source);
    }
    shapes[array] = *shape;
  }
  return shapes;
}

}  // namespace

std::vector<KernelFitReport> fit_reports(const trace::Trace& trace, const std::vector<KernelReport>& kernels,
                                         const fit::Architectures& architectures, const FitOptions& options,
                                         const SourceFinder& finder, bool incomplete) {
  const std::vector<DeclaredArrays> declared_by_kernel = declared_arrays(trace, kernels, finder);
  std::vector<KernelFitReport> reports;
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    const trace::KernelTrace& kernel_trace = trace.kernels[kernels[k].number];
    KernelFitReport& report = reports.emplace_back();
    report.kernel = kernels[k].name;
    report.is_opencl = kernel_trace.source != trace::no_source || trace.maker == trace::Maker::opencl;
    const DeclaredArrays& declared = declared_by_kernel[k];
    const fit::KnownShapes shapes = known_shapes(kernels[k], kernel_trace, trace.maker, report.is_opencl, declared);
    try {
      report.fit =
          fit_kernel(kernel_trace, architectures, shapes,
                     {options.max_shared, options.keep_occupancy, !incomplete, trace.maker == trace::Maker::cuda});
    } catch (const std::invalid_argument& why) {
      throw support::UsageError(why.what());
    }
    adapt_cures(report, kernels[k], trace.maker);
    for (auto* side : {&report.fit.before, &report.fit.after}) std::ranges::for_each(*side, sort_by_place);
    for (fit::ArrayFit& array : report.fit.arrays) {
      if (incomplete) array.doubts.emplace_back("the trace is incomplete");
      report.sources.push_back(source_of(declared, array.arrays.front()));
    }
  }
  choose_for_declarations(reports, trace, kernels, architectures);
  choose_sequential_addressing(reports, trace, kernels, architectures);
  share_declarations(reports);
  for (KernelFitReport& report : reports) set_all_edits(report);
  note_patched(reports, trace, kernels, architectures);
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
  const std::vector<UsedLines> lines = used_lines(kernel, kernel_trace);
  for (std::size_t i = 0; i < report.fit.arrays.size(); ++i) {
    const std::uint32_t first = report.fit.arrays[i].arrays.front();
    auto own = find_in_own_text(trace, kernel_trace, kernel_trace.arrays[first], lines[first]);
    if (own && report.sources[i]) {
      own->instances = report.sources[i]->instances;
      own->used_row = report.sources[i]->used_row;
    }
    report.sources[i] = std::move(own);
  }
  set_all_edits(report);
}

}  // namespace bankwise::driver
