#include <fmt/format.h>

#include <bankwise/support/table.hpp>
#include <bankwise/support/text.hpp>
#include "bankcheck/driver/fit_report.hpp"
#include "bankcheck/driver/kernel_report.hpp"
#include "bankcheck/predict/predict.hpp"

namespace bankwise::driver {
namespace {

using fit::ArrayFit;
using fit::IndexForm;
using fit::PricedOption;

/// Rounded down, so that 100 % are all.
std::string percent(std::uint64_t part, std::uint64_t whole) {
  return fmt::format("{} %", whole == 0 ? 0 : unsigned(100 * double(part) / double(whole)));
}

/// The name in code: the source's, if the array has one.
std::string index_name(const ArrayFit& array, const std::optional<ArraySource>& source) {
  if (source) return source->declaration.name;
  return array.name.find(' ') == std::string::npos ? array.name : "array";
}

/// The declaration as it would stand in the source.
std::string declaration_text(const ArrayFit& array, const std::optional<ArraySource>& source,
                             const PricedOption& option, IndexForm form, bool is_opencl) {
  std::vector<std::string> dimensions;
  for (const std::uint64_t length : array.shape.lengths) dimensions.push_back(std::to_string(length));
  std::string head = fmt::format("{} T ", is_opencl ? "local" : "__shared__"), name = index_name(array, source);
  if (source) {
    const fit::Declaration& declared = source->declaration;
    head = fmt::format("{} {} ", declared.qualifier, declared.type);
    if (declared.lengths.size() == declared.dimensions.size()) dimensions = declared.dimensions;
  }
  for (const std::string& dimension : dimension_texts(option.option.change, array.shape, form, dimensions))
    name += "[" + dimension + "]";
  return head + name + ";";
}

/// Lines to paste.
std::string code_text(const ArrayFit& array, const std::optional<ArraySource>& source, const PricedOption& option,
                      bool is_opencl) {
  const auto form = form_of(option.option.change, array.shape);
  if (!form || *form == IndexForm::none) return "";
  if (*form == IndexForm::elements) {
    return fmt::format("      elements of {} bytes instead of {}: add a member of {} to the type\n",
                       array.shape.element + option.option.change.pads[0].bytes, array.shape.element,
                       support::plural(option.option.change.pads[0].bytes, "byte", "bytes"));
  }
  std::string text = fmt::format("      {}\n", declaration_text(array, source, option, *form, is_opencl));
  if (*form == IndexForm::rows) return text;
  const auto names = fit::subscript_names(array.shape.lengths.size());
  std::string old;
  for (const std::string& subscript : names) old += "[" + subscript + "]";
  const std::string name = index_name(array, source);
  text += fmt::format("      {}{}    instead of {}{}\n", name,
                      index_text(option.option.change, array.shape, *form, names), name, old);
  if (const auto cute = cute_name(option.option.change, unsigned(array.shape.element)); !cute.empty()) {
    text += fmt::format("      CuTe: {} on elements\n", cute);
  }
  if (const auto tma = fit::tma_name(option.option.change); !tma.empty() && array.facts.bounds.copied_in) {
    text += fmt::format("      TMA: {}\n", tma);
  }
  return text;
}

std::string options_table(const KernelReport& kernel, const ArrayFit& array) {
  std::vector<std::vector<std::string>> table{{"change", ""}};
  for (const trace::Report& report : kernel.reports) {
    table[0].push_back(fmt::format("passes on {}", report.architecture->name));
  }
  table[0].insert(table[0].end(), {"bytes", ""});
  const auto add = [&](const PricedOption& option, bool chosen) {
    auto& row = table.emplace_back(std::vector<std::string>{
        std::string(to_string(option.option.change.kind())),
        option.option.change.kind() == fit::ChangeKind::identity ? "" : to_text(option.option.change)});
    bool harms = false;
    for (std::size_t a = 0; a < option.passes.size(); ++a) {
      harms |= option.passes[a] > array.before().passes[a];
      row.push_back(std::to_string(option.passes[a]));
    }
    row.push_back(std::to_string(option.option.bytes));
    row.emplace_back(chosen ? "<- proposed" : harms ? "more than before" : "");
  };
  for (std::size_t i = 0; i < array.options.size(); ++i) add(array.options[i], i > 0 && i == array.chosen);
  return support::format_table(table, 2, true);
}

/// What the search says about the array, as sentences.
std::string verdict_text(const ArrayFit& array) {
  const std::uint64_t before = array.before().option.passes, after = array.after().option.passes;
  const std::uint64_t queued = array.bound - array.ideal;
  std::string text;
  switch (array.verdict) {
    case fit::FitVerdict::no_conflicts: return "  no conflicts: nothing to change\n";
    case fit::FitVerdict::fixed: return fmt::format("  not changed: {}\n", array.facts.why_fixed);
    case fit::FitVerdict::none:
      text = fmt::format("  {} passes, ideal {}: no change of the family saves any\n", before, array.ideal);
      break;
    case fit::FitVerdict::chance:
      text = fmt::format(
          "  {} passes, ideal {}: no change of the family removes these conflicts. The best saves {} on exactly these "
          "accesses,\n  no more than chance: their addresses seem to depend on data. No change is proposed\n",
          before, array.ideal, percent(before - array.options[array.best].option.passes, before - array.bound));
      break;
    case fit::FitVerdict::removed:
      text = fmt::format("  {} -> {} passes, ideal {}: {}\n", before, after, array.ideal,
                         after > array.bound ? fmt::format("{} of the conflicts are removed",
                                                           percent(before - after, before - array.ideal))
                         : queued == 0       ? "no conflict remains"
                                             : "no conflict remains that a layout could remove");
      break;
    case fit::FitVerdict::reduced:
      text = fmt::format("  {} -> {} passes, ideal {}: {} of the conflicts are removed\n", before, after, array.ideal,
                         percent(before - after, before - array.ideal));
      break;
  }
  if (queued > 0) {
    text +=
        fmt::format("  {} conflicts are lanes that need one word or one bank in turn whatever the layout\n", queued);
  }
  if (array.doubts.empty() && array.verdict == fit::FitVerdict::chance) {
    text += fmt::format("  {} changes tried\n", array.tried);
  } else if (array.doubts.empty()) {
    const std::uint64_t fewest = array.options[array.best].option.passes;
    text += fmt::format(
        "  no change of this family ({} tried) has fewer passes{}{}\n", array.tried,
        fewest < after ? fmt::format(" than {}; the proposal has {} and is simpler to write", fewest, after) : "",
        array.facts.extent_known ? "" : "; the bytes of the array are not known");
  } else {
    text +=
        fmt::format("  {} of {} changes tried; it is not claimed that none is better:\n", array.tried, array.family);
    for (const std::string& doubt : array.doubts) text += fmt::format("    {}\n", doubt);
  }
  return text;
}

/// The lines that use an array, before and after.
std::string lines_table(const KernelReport& kernel, const KernelFitReport& report, const ArrayFit& array) {
  std::vector<std::vector<std::string>> table{{"where", "access"}};
  for (const trace::Report& trace_report : kernel.reports) {
    table[0].push_back(fmt::format("{}: before", trace_report.architecture->name));
    table[0].insert(table[0].end(), {"after", "ideal"});
  }
  const auto is_mine = [&](const trace::LineReport& line) {
    return array.name == line.array || (", " + array.name + ",").find(", " + line.array + ",") != std::string::npos;
  };
  const auto& first = kernel.reports.front();
  for (std::size_t i = 0; i < first.lines.size(); ++i) {
    const trace::LineReport& line = first.lines[i];
    if (!is_mine(line)) continue;
    const SourcePlace& place = kernel.lines.front()[i].place;
    auto& row = table.emplace_back(
        std::vector<std::string>{where({{place.file, place.line}, ""}, line.site), access_text(line)});
    for (std::size_t a = 0; a < kernel.reports.size(); ++a) {
      const trace::LineReport* before = same_line(report.fit.before[a], line);
      const trace::LineReport* now = same_line(report.fit.after[a], line);
      row.push_back(before == nullptr ? "?" : std::to_string(before->costs.passes));
      row.push_back(now == nullptr ? "?" : std::to_string(now->costs.passes));
      row.push_back(before == nullptr ? "?" : std::to_string(before->costs.ideal));
    }
  }
  return support::format_table(table, 2);
}

/// The worst access of the array on the first architecture, before and after.
std::string pictures(const KernelReport& kernel, const KernelFitReport& report, const ArrayFit& array,
                     unsigned columns) {
  constexpr unsigned max_turns = 4;
  const trace::Report& first = kernel.reports.front();
  const trace::LineReport* worst = nullptr;
  for (const trace::LineReport& line : first.lines) {
    const bool mine = array.arrays.size() == 1 && array.name == line.array && line.mixed == 0;
    if (mine && line.worst && (worst == nullptr || line.worst->conflicts > worst->worst->conflicts)) worst = &line;
  }
  if (worst == nullptr) return "";
  std::vector<std::uint32_t> addresses = worst->worst->addresses;
  const auto draw = [&](std::string_view when) {
    const banks::Access access{worst->operation, worst->width, worst->worst->mask, addresses, worst->worst->sources};
    const auto cost = banks::cost(*first.architecture, access);
    if (!std::holds_alternative<banks::Cost>(cost)) return std::string();
    const auto& known = std::get<banks::Cost>(cost);
    return fmt::format("  {}: passes {}, ideal {}\n", when, known.passes, known.ideal) +
           to_text(predict::picture(*first.architecture, access, known), columns, max_turns);
  };
  const std::string before = draw("the worst access before");
  const trace::Array& place = report.fit.places.at(array.arrays.front());
  banks::for_each_lane(worst->worst->mask, [&](unsigned lane) {
    if (lane >= addresses.size()) return;
    addresses[lane] = std::uint32_t(place.offset + array.after().option.change(addresses[lane] - place.offset));
  });
  return before + draw("and after");
}

std::string occupancy_text(const KernelReport& kernel, const KernelFitReport& report) {
  const fit::KernelFit& kernel_fit = report.fit;
  std::string text;
  for (const trace::Report& trace_report : kernel.reports) {
    const auto& known = trace_report.architecture->multiprocessor.fact;
    if (!known) continue;
    text += fmt::format("{}{} {} -> {}", text.empty() ? "" : ", ", trace_report.architecture->name,
                        resident_blocks(*known, kernel_fit.shared_before, kernel_fit.threads),
                        resident_blocks(*known, kernel_fit.shared_after, kernel_fit.threads));
  }
  const std::string bytes =
      fmt::format("  shared memory of a block: {} -> {} bytes", kernel_fit.shared_before, kernel_fit.shared_after);
  if (text.empty()) return bytes + '\n';
  return fmt::format("{}; resident blocks by shared memory and threads: {}\n", bytes, text);
}

std::string array_text(const KernelReport& kernel, const KernelFitReport& report, std::size_t number,
                       unsigned columns) {
  const ArrayFit& array = report.fit.arrays[number];
  const std::optional<ArraySource>& source = report.sources[number];
  std::string text = fmt::format("\n  {}{}, {} bytes{}\n", array.arrays.size() > 1 ? "together: " : "", array.name,
                                 array.facts.extent, array.facts.extent_known ? "" : " used");
  text += verdict_text(array);
  if (array.verdict == fit::FitVerdict::no_conflicts || array.verdict == fit::FitVerdict::fixed) return text;
  if (array.verdict == fit::FitVerdict::chance || array.verdict == fit::FitVerdict::none) return text;
  text += options_table(kernel, array);
  const PricedOption& best = array.after();
  if (array.shape_inferred) {
    text += fmt::format(
        "    no declaration found; {} of {} bytes{} inferred from the accesses\n", "elements", array.shape.element,
        array.shape.lengths.size() > 1 ? fmt::format(" in rows of {}", array.shape.lengths.back()) : "");
  }
  text += fmt::format("    {}, {}:\n", to_string(best.option.change.kind()),
                      best.option.bytes > array.facts.extent
                          ? fmt::format("{} additional bytes", best.option.bytes - array.facts.extent)
                          : "no additional bytes");
  text += code_text(array, source, best, report.is_opencl);
  for (std::size_t i = 1; i < array.options.size(); ++i) {
    const PricedOption& other = array.options[i];
    if (i == array.chosen || other.option.passes != best.option.passes) continue;
    text += fmt::format("    or, with as few passes: {}, {} additional bytes:\n", to_string(other.option.change.kind()),
                        other.option.bytes - array.facts.extent);
    text += code_text(array, source, other, report.is_opencl);
  }
  if (array.front.size() > 1) {
    text += "    passes against bytes:";
    for (const PricedOption& on_front : array.front) {
      text += fmt::format("{} {} with {} additional bytes", &on_front == &array.front.front() ? "" : ",",
                          on_front.option.passes, on_front.option.bytes - array.facts.extent);
    }
    text += '\n';
  }
  text += '\n' + lines_table(kernel, report, array);
  return text + '\n' + pictures(kernel, report, array, columns);
}

}  // namespace

std::string fit_text(const KernelReport& kernel, const KernelFitReport& report, unsigned columns) {
  std::string text = fmt::format("fit of {}\n", kernel.name);
  if (report.fit.arrays.empty()) return text + "  no access to shared memory was recorded\n\n";
  for (std::size_t i = 0; i < report.fit.arrays.size(); ++i) text += array_text(kernel, report, i, columns);
  if (changes_something(report.fit)) text += '\n' + occupancy_text(kernel, report);
  return text + '\n';
}

}  // namespace bankwise::driver
