#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include <bankwise/support/numbers.hpp>
#include "bankcheck/driver/fit_report.hpp"
#include "bankcheck/fit/functions.hpp"
#include "bankcheck/source/tokens.hpp"

namespace bankwise::driver {
namespace {

bool has_shorter_rows(const fit::Change& change) { return change.rows.to < change.rows.from; }

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

/// The arrays of the same block that get the same change, in the order of their declarations, with this one; only this
/// one if two others are changed, which may share names of their own.
std::vector<const fit::Declaration*> alike_with(const KernelFitReport& report, std::size_t number) {
  const auto change_of = [&](std::size_t i) { return report.fit.arrays[i].after().option.change; };
  const fit::ArrayFit& own = report.fit.arrays[number];
  const ArraySource& source = *report.sources[number];
  const source::SourceTokens code(source.text);
  std::vector<const fit::Declaration*> alike;
  std::size_t others = 0;
  for (std::size_t i = 0; i < report.sources.size(); ++i) {
    const auto& other = report.sources[i];
    const fit::ArrayFit& fit = report.fit.arrays[i];
    if (!other || fit.chosen == 0 || other->path != source.path || other->text != source.text) continue;
    const bool is_same = fit.shape.lengths == own.shape.lengths &&
                         are_side_by_side(code, source.declaration, other->declaration) &&
                         same_code(change_of(number), own.shape, fit.shape) == change_of(i);
    if (i == number || is_same) alike.push_back(&other->declaration);
    others += i == number || is_same ? 0 : 1;
  }
  if (others > 1) return {&source.declaration};
  std::ranges::sort(alike, {}, &fit::Declaration::at);
  return alike;
}

/// What `--fit` writes for an array's change.
Edits edits_of_array(const KernelFitReport& report, std::size_t number) {
  const std::vector<trace::Array>& arrays = report.fit.places;
  const fit::ArrayFit& array = report.fit.arrays[number];
  const ArraySource& source = *report.sources[number];
  std::set<std::string> names;
  for (const std::uint32_t each : array.arrays) names.insert(arrays[each].name);
  if (names.size() > 1) {
    return fmt::format("line {}: {} arrays must change alike; make the same change in each by hand",
                       source.declaration.line, names.size());
  }
  const fit::Change& change = array.after().option.change;
  const std::uint64_t block =
      change.swizzle.bits == 0 ? 1 : std::uint64_t{1} << (change.swizzle.base + change.swizzle.bits);
  const auto is_torn = [&](std::uint32_t each) { return arrays[each].bytes % block != 0; };
  if (source.declaration.is_parameter && std::ranges::any_of(array.arrays, is_torn)) {
    return fmt::format("line {}: the launch must give this array a multiple of {} bytes; change both by hand",
                       source.declaration.line, block);
  }
  Edits edits = edits_of(source.text, source.declaration, change, array.shape);
  if (std::holds_alternative<std::string>(edits)) return edits;
  if (std::string why = refusal_of_others(array, source, edits); !why.empty()) return why;
  edits = edits_of(source.text, source.declaration, change, array.shape, alike_with(report, number));
  auto* list = std::get_if<std::vector<fit::Edit>>(&edits);
  if (list != nullptr && !list->empty() && !change.sequential) {
    const bool removed = array.after().option.passes == array.bound;
    const fit::ConflictFacts facts{array.facts.bounds.period, array.facts.stride, removed};
    auto comment = reason_comment(source.text, source.declaration, change, array.shape, facts);
    if (comment) list->insert(list->begin(), std::move(*comment));
  }
  return edits;
}

bool overlap(const fit::Edit& a, const fit::Edit& b) { return a != b && a.begin < b.end && b.begin < a.end; }

/// The first edit of one source that overlaps with one of another source; null if there is none.
const fit::Edit* overlapping(const std::optional<ArraySource>& a, const std::optional<ArraySource>& b) {
  const auto *edits = edits_in(a), *others = edits_in(b);
  if (edits == nullptr || others == nullptr) return nullptr;
  const auto found = std::ranges::find_if(*edits, [&](const fit::Edit& edit) {
    return std::ranges::any_of(*others, [&](const fit::Edit& other) { return overlap(edit, other); });
  });
  return found == edits->end() ? nullptr : &*found;
}

/// The number of the line that an offset is in.
std::size_t line_at(std::string_view text, std::size_t offset) {
  return 1 + std::size_t(std::ranges::count(text.substr(0, offset), '\n'));
}

/// An index of one changed array that reads another one: the two edits cannot both be made.
void part_overlapping(KernelFitReport& report) {
  for (auto source = report.sources.begin(); source != report.sources.end(); ++source) {
    std::optional<std::size_t> place;
    for (auto earlier = report.sources.begin(); earlier != source; ++earlier) {
      const fit::Edit* inside = overlapping(*source, *earlier);
      if (inside != nullptr && (*earlier)->path == (*source)->path) place = inside->begin;
    }
    if (!place) continue;
    (*source)->edits = fmt::format(
        "line {}: the index of a changed array reads another changed array; read that element into a "
        "variable first",
        line_at((*source)->text, *place));
  }
}

/// Why the changes of a kernel cannot all be made in files, or in texts without one; "" if they can.
std::string refusal_of(const KernelFitReport& report, bool by_text) {
  for (const auto& [array, source, is_opencl] : changed_arrays(report)) {
    if (!source)
      return fmt::format("no declaration of {} as an array was found, and structures are not rewritten; see --sources",
                         array.name);
    if (source->path.empty() && !by_text) {
      return fmt::format("{} is not declared in a file below the directory of --sources", array.name);
    }
    if (const auto* why = std::get_if<std::string>(&source->edits)) return fmt::format("{}: {}", array.name, *why);
  }
  return "";
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
      return refusals[number.first].empty() &&
             overlapping(reports[number.first].sources[number.second], source) == nullptr &&
             same_code(change, own.shape, other.shape) == other.after().option.change;
    };
    for (const fit::Declaration::Tie& tie : source->declaration.tied) {
      const bool macro_stays = form_of(change, own.shape) == fit::IndexForm::rows && source->declaration.pitch == 0;
      if (tie.by_macro && macro_stays) continue;
      const auto others = arrays.find({place_of(*source).first, tie.at});
      if (others != arrays.end() && std::ranges::all_of(others->second, gets_change)) continue;
      return fmt::format(
          "{}: line {}: the same {} serves the array of line {}, which does not get this change; write a "
          "copy of it first",
          own.name, source->declaration.line, tie.by_macro ? "macro" : "function", line_at(source->text, tie.at));
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

/// Whether both only add a text at the same place, such as a function of the new index.
bool add_at_one_place(const fit::Edit& a, const fit::Edit& b) {
  return a.begin == b.begin && a.end == a.begin && b.end == b.begin;
}

/// "line 12": where an edit would be made in the place of one that is `accepted`; "" if none would.
std::string clash(const EditedFiles& edits, const EditedFiles& accepted) {
  for (const auto& [path, file] : edits) {
    const auto others = accepted.find(path);
    if (others == accepted.end()) continue;
    const auto& made = others->second.edits;
    const auto clashes = [&](const fit::Edit& edit) {
      return std::ranges::find(made, edit) == made.end() && std::ranges::any_of(made, [&](const fit::Edit& other) {
               return overlap(edit, other) || add_at_one_place(edit, other);
             });
    };
    const auto edit = std::ranges::find_if(file.edits, clashes);
    if (edit != file.edits.end()) return fmt::format("line {}", line_at(file.text, edit->begin));
  }
  return "";
}

}  // namespace

void set_all_edits(KernelFitReport& report) {
  for (std::size_t i = 0; i < report.sources.size(); ++i) {
    if (report.sources[i] && report.fit.arrays[i].chosen > 0) report.sources[i]->edits = edits_of_array(report, i);
  }
  part_overlapping(report);
}

Place place_of(const ArraySource& source) {
  return {source.path.empty() ? source.text : source.path, source.declaration.at};
}

std::map<Place, std::vector<ArrayNumber>> arrays_by_place(const std::vector<KernelFitReport>& reports) {
  std::map<Place, std::vector<ArrayNumber>> arrays;
  for (std::size_t k = 0; k < reports.size(); ++k) {
    for (std::size_t i = 0; i < reports[k].sources.size(); ++i) {
      if (reports[k].sources[i]) arrays[place_of(*reports[k].sources[i])].emplace_back(k, i);
    }
  }
  return arrays;
}

EditedFiles edited_files(const KernelFitReport& report, bool by_text, const std::set<Place>& explained) {
  const auto is_comment = [](const fit::Edit& edit) {
    const std::string_view text = source::trimmed(edit.text);
    return edit.begin == edit.end && text.find('\n') == text.npos && (text.starts_with("//") || text.starts_with("/*"));
  };
  EditedFiles files;
  for (const auto& [array, source, is_opencl] : changed_arrays(report)) {
    const auto* list = edits_in(source);
    if (list == nullptr) continue;
    std::vector<fit::Edit> edits = *list;
    if (explained.contains(place_of(*source))) std::erase_if(edits, is_comment);
    fit::EditedFile& file = files[by_text ? source->text : source->path];
    file.text = source->text;
    file.add(edits);
  }
  return files;
}

FixedSources fixed_sources(const std::vector<KernelFitReport>& fits, bool by_text) {
  FixedSources fixed;
  const std::vector<std::string> refusals = refusals_of(fits, by_text);
  std::set<Place> explained;  // instances of a template need not give the same reason
  for (std::size_t k = 0; k < fits.size(); ++k) {
    if (!changes_something(fits[k].fit)) continue;
    const EditedFiles edits = edited_files(fits[k], by_text, explained);
    const std::string place = clash(edits, fixed.edits);
    if (!refusals[k].empty() || !place.empty()) {
      constexpr const char* other_code = "another kernel needs other code there; write a copy of it first";
      fixed.left_out.push_back(fmt::format(
          "{}: {}", fits[k].kernel, refusals[k].empty() ? fmt::format("{}: {}", place, other_code) : refusals[k]));
      continue;
    }
    fixed.kernels.push_back(k);
    for (const auto& source : fits[k].sources) {
      if (source) explained.insert(place_of(*source));
    }
    for (const auto& [path, file] : edits) {
      fixed.edits[path].text = file.text;
      fixed.edits[path].add(file.edits);
    }
  }
  for (const auto& [path, file] : fixed.edits) {
    if (!file.edits.empty()) fixed.files[path] = fit::edited(file.text, file.edits);
  }
  return fixed;
}

// The passes of each kernel whose code the patch changes: with its own changes, or with those of another kernel that
// shares the code.

namespace {

/// A change of a declaration that the patch makes.
struct PatchedPlace {
  std::size_t kernel = 0;
  fit::Change change;
  fit::ArrayShape shape;
};

fit::PricedOption priced(const trace::KernelTrace& trace, const fit::ArrayFit& array, const fit::Change& change,
                         const fit::Architectures& architectures) {
  fit::Accesses accesses(trace, array.arrays, architectures);
  accesses.expect_merged(array.shape);
  fit::PricedOption option{.option = {change}, .passes = accesses.passes_by_architecture(change), .prediction = {}};
  option.prediction = fit::Predictor(trace, array.arrays, array.shape, architectures)(change, option.passes);
  return option;
}

}  // namespace

void note_patched(std::vector<KernelFitReport>& reports, const trace::Trace& trace,
                  const std::vector<KernelReport>& kernels, const fit::Architectures& architectures) {
  const std::vector<std::size_t> changed = fixed_sources(reports).kernels;
  std::map<Place, PatchedPlace> places;
  for (const std::size_t k : changed) {
    reports[k].patched = PatchedKernel{"", prediction_of(reports[k].fit)};
    for (const auto& [array, source, is_opencl] : changed_arrays(reports[k]))
      places.try_emplace(place_of(*source), PatchedPlace{k, array.after().option.change, array.shape});
  }
  for (std::size_t k = 0; k < reports.size(); ++k) {
    const bool has_own = reports[k].patched.has_value();
    fit::KernelFit fit{.arrays = reports[k].fit.arrays, .before = reports[k].fit.before};
    std::optional<std::size_t> with;
    for (std::size_t i = 0; i < fit.arrays.size(); ++i) {
      fit::ArrayFit& array = fit.arrays[i];
      if (!has_own) array.chosen = 0;
      const auto place = reports[k].sources[i] ? places.find(place_of(*reports[k].sources[i])) : places.end();
      if (array.chosen > 0 || place == places.end()) continue;
      const auto change = same_code(place->second.change, place->second.shape, array.shape);
      if (!change) continue;
      array.options.push_back(priced(trace.kernels[kernels[k].number], array, *change, architectures));
      array.chosen = array.options.size() - 1;
      with = place->second.kernel;
    }
    if (with) reports[k].patched = PatchedKernel{reports[*with].kernel, prediction_of(fit)};
  }
}

std::string passes_text(const fit::Prediction& prediction, std::size_t architecture) {
  const std::string least = support::grouped(prediction.least[architecture]);
  if (!prediction.most) return "at least " + least;
  const std::uint64_t most = (*prediction.most)[architecture];
  return most == prediction.least[architecture] ? least : fmt::format("{} to {}", least, support::grouped(most));
}

}  // namespace bankwise::driver
