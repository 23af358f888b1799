#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <iterator>

#include <bankwise/support/numbers.hpp>
#include <bankwise/support/table.hpp>
#include <bankwise/support/text.hpp>
#include "bankcheck/driver/fit_report.hpp"
#include "bankcheck/driver/kernel_report.hpp"
#include "bankcheck/predict/predict.hpp"

namespace bankwise::driver {
namespace {

using fit::ArrayFit;
using fit::FitVerdict;
using fit::PricedOption;
using support::grouped;
using Table = std::vector<std::vector<std::string>>;

/// Rounded down, so that 100 % are all.
std::string percent(std::uint64_t part, std::uint64_t whole) {
  return fmt::format("{} %", whole == 0 ? 0 : unsigned(100 * double(part) / double(whole)));
}

// --- The result ---

/// Without doubts nothing is missing in what was counted.
std::string left_text(const ArrayFit& array) {
  const std::uint64_t before = array.before().option.passes, after = array.after().option.passes;
  if (after > array.bound) return percent(before - after, before - array.ideal) + " of the conflicts removed";
  const char* recorded = array.doubts.empty() ? "" : "recorded ";
  return fmt::format("no {}conflict left{}", recorded, array.bound > array.ideal ? " that a layout could remove" : "");
}

std::string bytes_text(const ArrayFit& array) {
  const std::uint64_t before = array.facts.extent, after = array.after().option.bytes;
  const std::uint64_t difference = after < before ? before - after : after - before;
  return fmt::format("{} {}", support::plural(difference, "byte", "bytes"), after < before ? "fewer" : "more");
}

bool has_conflicts(const ArrayFit& array) { return array.verdict != FitVerdict::no_conflicts; }

/// Why an array with conflicts is not changed.
std::string refusal_text(const ArrayFit& array) {
  switch (array.verdict) {
    case FitVerdict::fixed: return array.facts.why_fixed;
    case FitVerdict::chance: return "no layout helps: the index seems to depend on data";
    case FitVerdict::unprofitable: {
      const fit::Option& best = array.options[array.best].option;
      std::string text =
          fmt::format("no layout pays: the best saves {} of {} passes",
                      grouped(array.before().option.passes - best.passes), grouped(array.before().option.passes));
      if (best.instructions > 0) {
        text += fmt::format(" and adds {} to the index of each of {} accesses",
                            support::plural(best.instructions, "instruction", "instructions"),
                            grouped(array.facts.accesses));
      }
      if (best.bytes <= array.facts.extent) return text;
      return text + fmt::format(", for {} more", support::plural(best.bytes - array.facts.extent, "byte", "bytes"));
    }
    default:
      return array.before().option.passes == array.bound
                 ? "no layout helps: lanes wait for one word or one bank"
                 : fmt::format("no layout helps, of {} that were tried", grouped(array.tried));
  }
}

/// What may be missing.
std::string doubts_text(const ArrayFit& array) {
  std::string text;
  for (const std::string& doubt : array.doubts) text += fmt::format("    {}\n", doubt);
  return text;
}

/// " 8 passes instead of 64 on sm_80, 8 instead of 32 on gfx90a". `before`: passes by the number of an architecture.
template <class Before>
std::string passes_by_architecture(const KernelReport& kernel, const fit::Prediction& after, Before before) {
  std::string text;
  for (std::size_t a = 0; a < kernel.reports.size(); ++a) {
    text += fmt::format("{} {}{} instead of {} on {}", a == 0 ? "" : ",", passes_text(after, a),
                        a == 0 ? " passes" : "", grouped(before(a)), kernel.reports[a].architecture->name);
  }
  return after.of_recorded ? text + ", of the recorded accesses" : text;
}

/// One sentence for each array with conflicts, and one for all others.
std::string result_text(const KernelReport& kernel, const ArrayFit& array) {
  const std::size_t count = array.arrays.size();
  const std::string subject =
      array.name + (count == 1 ? "" : fmt::format(" ({} arrays, changed alike)", grouped(count)));
  if (array.chosen == 0) {
    const std::uint64_t before = array.before().option.passes;
    std::string text = fmt::format("fit of {}: {} has {} passes where {} would do; {}", kernel.name, subject,
                                   grouped(before), grouped(array.ideal), refusal_text(array));
    if (array.verdict == FitVerdict::chance) {
      text +=
          fmt::format(". The best of {} layouts saves {} of the conflicts, no more than chance", grouped(array.tried),
                      percent(before - array.options[array.best].option.passes, before - array.bound));
    }
    return text + '\n';
  }
  const std::string passes =
      passes_by_architecture(kernel, array.after().prediction, [&](std::size_t a) { return array.before().passes[a]; });
  return fmt::format("fit of {}: {} takes{}: {}, {}\n", kernel.name, subject, passes, left_text(array),
                     bytes_text(array));
}

// --- The code to paste ---

/// The user's own lines before and after, as in a unified diff.
std::string diff_text(const std::string& path, const fit::EditedFile& edited) {
  constexpr std::size_t most_shown = 12, longest = 1000;  // a stranger's source may be one line
  const auto hunks = fit::hunks_of(edited.text, edited.edits);
  const std::string file = path.empty() ? std::string(nameless_place) : path;
  std::string text;
  for (std::size_t i = 0; i < std::min(hunks.size(), most_shown); ++i) {
    text += fmt::format("  {}\n", where({.place = {file, hunks[i].line}}, {}));
    for (const auto& [sign, lines] : {std::pair('-', &hunks[i].before), std::pair('+', &hunks[i].after)}) {
      for (std::string_view line : lines_of(*lines)) {
        if (line.ends_with('\r')) line.remove_suffix(1);
        text += fmt::format("  {} {}{}\n", sign, line.substr(0, longest), line.size() > longest ? "..." : "");
      }
    }
  }
  if (hunks.size() > most_shown) text += fmt::format("  and {} more like these\n", hunks.size() - most_shown);
  return text;
}

/// "  tile[y][x] -> tile[y][x ^ y], in CuTe Swizzle<5, 0, 5>".
std::string index_line(const ChangedArray& changed) {
  const ArrayFit& array = changed.array;
  const fit::Change& change = array.after().option.change;
  std::string text = "  " + chosen_text(changed);
  if (const auto cute = cute_name(change, unsigned(array.shape.element)); !cute.empty()) text += ", in CuTe " + cute;
  const auto tma = fit::tma_name(change);
  if (!tma.empty() && array.facts.bounds.copied_in) text += ", for TMA " + tma;
  text += '\n';
  if (change.sequential) text += "  sums of floats are then rounded otherwise\n";
  if (const fit::Repitch& rows = change.rows; rows.to < rows.from) {
    const std::uint64_t first = (array.facts.bounds.used_row + array.shape.element - 1) / array.shape.element;
    const std::uint64_t last = rows.from / array.shape.element - 1;
    text += fmt::format("  no recorded access uses {} of {}\n",
                        first == last ? fmt::format("column {}", last) : fmt::format("columns {} to {}", first, last),
                        changed.written().name);
  }
  return text;
}

/// The layouts of all changed arrays in code, and then the user's own lines as far as they can be rewritten.
std::string code_text(const KernelReport& kernel, const KernelFitReport& report) {
  std::string text;
  for (const ChangedArray& changed : changed_arrays(report))
    text += result_text(kernel, changed.array) + index_line(changed) + by_hand_text(changed);
  return text + diffs_text(report);
}

/// A kernel that the patch changes with another one.
std::string shared_text(const KernelReport& kernel, const KernelFitReport& report) {
  if (!report.patched || report.patched->with.empty()) return "";
  const std::string passes = passes_by_architecture(kernel, report.patched->passes,
                                                    [&](std::size_t a) { return report.fit.before[a].all.passes; });
  return fmt::format("fit of {}: changed with {}:{}\n", kernel.name, report.patched->with, passes);
}

/// The arrays that stay as they are.
std::string unchanged_text(const KernelReport& kernel, const KernelFitReport& report) {
  std::string text, clean;
  for (const ArrayFit& array : report.fit.arrays) {
    if (array.chosen == 0 && has_conflicts(array)) text += result_text(kernel, array) + doubts_text(array);
    if (has_conflicts(array)) continue;
    if (array.doubts.empty()) clean += (clean.empty() ? "" : ", ") + array.name;
    if (!array.doubts.empty()) {
      text +=
          fmt::format("fit of {}: no conflicts of {} are known, but\n", kernel.name, array.name) + doubts_text(array);
    }
  }
  if (!clean.empty()) text += fmt::format("fit of {}: no conflicts in {}\n", kernel.name, clean);
  return text;
}

// --- Tables ---

/// The lines that use the changed arrays, before and after.
std::string lines_table(const KernelReport& kernel, const KernelFitReport& report, unsigned columns) {
  Table table{{"where", "access", "array"}};
  for (const trace::Report& trace_report : kernel.reports) {
    table[0].push_back(fmt::format("{}: before", trace_report.architecture->name));
    table[0].insert(table[0].end(), {"after", "ideal"});
  }
  const auto is_changed = [&](const std::string& name) {
    return std::ranges::any_of(report.fit.arrays, [&](const ArrayFit& array) {
      return array.chosen > 0 && (", " + array.name + ",").find(", " + name + ",") != std::string::npos;
    });
  };
  for (const trace::LineReport& line : kernel.reports.front().lines) {
    if (!is_changed(line.array)) continue;
    PlacedLine placed = kernel.placed(line.site);
    placed.place.column = 0;
    auto& row = table.emplace_back(std::vector<std::string>{where(placed, line.site), access_text(line), line.array});
    for (std::size_t a = 0; a < kernel.reports.size(); ++a) {
      const trace::LineReport* before = same_line(report.fit.before[a], line);
      const trace::LineReport* now = same_line(report.fit.after[a], line);
      row.push_back(before == nullptr ? "?" : grouped(before->costs.passes));
      row.push_back(now == nullptr ? "?" : grouped(now->costs.passes));
      row.push_back(before == nullptr ? "?" : grouped(before->costs.ideal));
    }
  }
  return '\n' + support::format_wide_table(table, 3, columns);
}

/// What the search claims, and why its proposal is this one.
std::string search_text(const ArrayFit& array) {
  const std::uint64_t after = array.after().option.passes, fewest = array.options[array.best].option.passes;
  std::string text = fmt::format("\n  {}: {} layouts were tried", array.name, grouped(array.tried));
  if (array.doubts.empty()) {
    text += ", and none has fewer passes";
    if (fewest < after) text += fmt::format(" than {}", grouped(fewest));
    text += array.facts.extent_known ? "\n" : "; the bytes of the array are not known\n";
  } else {
    text += fmt::format(" of {}; it is not claimed that none is better:\n", grouped(array.family)) + doubts_text(array);
  }
  if (const std::uint64_t queued = array.bound - array.ideal; queued > 0) {
    text += fmt::format("  {} conflicts remain in every layout: lanes that wait for one word or one bank\n",
                        grouped(queued));
  }
  if (array.parted > 0) {
    text += fmt::format("  the compiler merges accesses to neighbours; with this index it merges {} fewer, at most\n",
                        grouped(array.parted));
  }
  const fit::Prediction& prediction = array.after().prediction;
  if (!prediction.most || *prediction.most != prediction.least)
    text += "  the compiler decides which accesses it merges or saves with this index, so the passes are not certain\n";
  return text + fmt::format("  proposed: {}\n", reason_of(array, array.after()));
}

/// What marks an option: "<- proposed, fewest bytes".
std::string mark_of(const ArrayFit& array, std::size_t i) {
  const fit::FrontierEnds ends = frontier_ends(array);
  const bool is_slower = !std::ranges::equal(array.options[i].passes, array.before().passes, std::less_equal());
  std::vector<std::string_view> marks;
  for (const auto& [is_so, mark] : {std::pair(i == array.chosen, "<- proposed"),
                                    {i == ends.fewest_passes, "fewest passes"},
                                    {i == ends.cheapest_index, "cheapest index"},
                                    {i == ends.fewest_bytes, "fewest bytes"},
                                    {is_slower, "more passes than before"}}) {
    if (is_so) marks.emplace_back(mark);
  }
  return fmt::format("{}", fmt::join(marks, ", "));
}

/// The proposal and the ends of the frontier; `everything`: all options that were compared.
std::string options_table(const KernelReport& kernel, const ChangedArray& changed, bool everything) {
  const ArrayFit& array = changed.array;
  const WrittenArray code = changed.written();
  std::string number;
  Table table{{"", "passes on"}};
  for (const trace::Report& report : kernel.reports) table[0].emplace_back(report.architecture->name);
  table[0].insert(table[0].end(), {"instructions", "bytes", ""});
  const fit::FrontierEnds ends = frontier_ends(array);
  const std::size_t shown[]{0, array.chosen, ends.fewest_passes, ends.cheapest_index, ends.fewest_bytes};
  for (std::size_t i = 0; i < array.options.size(); ++i) {
    if (!everything && std::ranges::find(shown, i) == std::end(shown)) continue;
    const PricedOption& option = array.options[i];
    const LayoutCode layout = layout_code(array, code, option);
    if (!layout.number.empty()) number = layout.number;
    auto& row = table.emplace_back(
        std::vector<std::string>{std::string(to_string(option.option.change.kind())), code_of(layout)});
    for (const std::uint64_t passes : option.passes) row.push_back(grouped(passes));
    row.push_back(i == 0 ? "" : fmt::format("+{}", option.option.instructions));
    row.push_back(grouped(option.option.bytes));
    row.push_back(i == 0 ? "" : mark_of(array, i));
  }
  const std::string text = search_text(array) + support::format_table(table, 2, true);
  return number.empty() ? text : text + fmt::format("  i = {}\n", number);
}

/// The worst access to the array with the most conflicts on the first architecture: one lane group, before unless the
/// report shows it, and after.
std::string pictures(const KernelReport& kernel, const KernelFitReport& report, const ArrayFit& array, unsigned columns,
                     bool after_report) {
  constexpr unsigned max_turns = 4;
  const trace::Report& first = kernel.reports.front();
  const trace::LineReport* worst = nullptr;
  for (const trace::LineReport& line : first.lines) {
    const bool mine = array.arrays.size() == 1 && array.name == line.array && line.mixed == 0;
    if (mine && line.worst && (worst == nullptr || line.worst->conflicts > worst->worst->conflicts)) worst = &line;
  }
  if (worst == nullptr) return "";
  std::optional<std::size_t> lane_group;  // the worst before the change
  std::vector<std::uint32_t> addresses = worst->worst->addresses;
  const auto draw = [&](std::string_view when, bool show) {
    const banks::Access access{worst->operation, worst->width, worst->worst->mask, addresses, worst->worst->sources};
    const auto cost = banks::cost(*first.architecture, access);
    if (!std::holds_alternative<banks::Cost>(cost)) return std::string();
    const auto& known = std::get<banks::Cost>(cost);
    predict::BankPicture picture = predict::picture(*first.architecture, access, known);
    auto& groups = picture.lane_groups;
    if (!lane_group) {
      const auto turns = [](const predict::LaneGroupPicture& group) { return group.turns.size(); };
      lane_group = std::size_t(std::ranges::max_element(groups, {}, turns) - groups.begin());
    }
    if (!show || *lane_group >= groups.size()) return std::string();
    groups = {groups[*lane_group]};
    return fmt::format("\n  the worst access to {} {}: passes {}, ideal {}\n", array.name, when, known.passes,
                       known.ideal) +
           to_text(picture, columns, max_turns);
  };
  const std::string before = draw("before", !after_report);
  const trace::Array& place = report.fit.places.at(array.arrays.front());
  move_lanes(array.after().option.change, place.offset, worst->worst->mask, worst->width, addresses);
  return before + draw("after", true);
}

/// "" if no architecture's blocks can change.
std::string occupancy_text(const KernelReport& kernel, const KernelFitReport& report) {
  const fit::KernelFit& kernel_fit = report.fit;
  bool changes = false;
  std::string text = fmt::format("\n  resident blocks by shared memory ({} -> {} bytes) and threads:",
                                 grouped(kernel_fit.shared_before), grouped(kernel_fit.shared_after));
  for (const trace::Report& trace_report : kernel.reports) {
    const auto& known = trace_report.architecture->multiprocessor.fact;
    text += fmt::format("{} {} ", &trace_report == &kernel.reports.front() ? "" : ",", trace_report.architecture->name);
    if (!known) {
      changes |= kernel_fit.shared_before != kernel_fit.shared_after;
      text += "not known";
      continue;
    }
    const auto before = resident_blocks(*known, kernel_fit.shared_before, kernel_fit.threads);
    const auto after = resident_blocks(*known, kernel_fit.shared_after, kernel_fit.threads);
    changes |= before != after;
    text += fmt::format("{} -> {}", before, after);
  }
  return changes ? text + '\n' : "";
}

}  // namespace

std::string by_hand_text(const ChangedArray& changed) {
  const auto& [array, source, is_opencl] = changed;
  if (edits_in(source) != nullptr) return "";
  const WrittenArray code = changed.written();
  const fit::Option& option = array.after().option;
  const LayoutCode layout = layout_code(array, code, array.after());
  std::string text;
  if (code.dynamic && option.bytes > array.facts.extent) {
    text += fmt::format("  {} bytes at the launch instead of {}\n", grouped(option.bytes), grouped(array.facts.extent));
  } else if (!layout.declaration.empty() && !layout.index.empty()) {
    text += fmt::format("  {}{}{}\n", code.head, layout.declaration, code.head.empty() ? "" : ";");
  }
  const bool rows = code.shape.lengths.size() > 1;
  if (array.shape_inferred && !code.by_number) {
    text += fmt::format("  if its elements have {} bytes{}, as the accesses suggest\n", array.shape.element,
                        rows ? fmt::format(", and its rows {} elements", code.shape.lengths.back()) : "");
  }
  if (option.change.kind() == fit::ChangeKind::pad && option.change.pads[0].every == array.shape.element) {
    return text + fmt::format("  add a member of {} to {}\n",
                              support::plural(option.change.pads[0].bytes, "byte", "bytes"),
                              source ? source->declaration.type : "their type");
  }
  if (source) text += fmt::format("  not rewritten: {}\n", std::get<std::string>(source->edits));
  return text;
}

std::string diffs_text(const KernelFitReport& report) {
  std::string text;
  for (const auto& [path, file] : edited_files(report)) text += diff_text(path, file);
  return text;
}

std::string fit_summary(const KernelFitReport& report) {
  std::string text;
  for (const ChangedArray& changed : changed_arrays(report)) {
    text += fmt::format("{}{}: {}, {}", text.empty() ? "" : "; ", chosen_text(changed), left_text(changed.array),
                        bytes_text(changed.array));
  }
  const auto refused = std::ranges::find_if(report.fit.arrays, has_conflicts);
  if (!text.empty() || refused == report.fit.arrays.end()) return text;
  return refusal_text(*refused);
}

std::string fit_text(const KernelReport& kernel, const KernelFitReport& report, const TextOptions& options) {
  const bool everything = options.detail == Detail::verbose;
  const auto& arrays = report.fit.arrays;
  const std::string cures = cures_text(kernel, report, everything);
  if (arrays.empty()) return fmt::format("fit of {}: no access to shared memory was recorded\n", kernel.name) + cures;
  std::string text = code_text(kernel, report) + unchanged_text(kernel, report) + shared_text(kernel, report);
  if (!changes_something(report.fit)) return text + cures;  // one line each, if many kernels are clean
  text += lines_table(kernel, report, options.columns);
  const std::vector<ChangedArray> changed = changed_arrays(report);
  for (const ChangedArray& each : changed) text += options_table(kernel, each, everything);
  return text + pictures(kernel, report, changed.front().array, options.columns, !options.fits_only) +
         occupancy_text(kernel, report) + '\n' + cures;
}

}  // namespace bankwise::driver
