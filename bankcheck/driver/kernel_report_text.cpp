#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>

#include <bankwise/report/metrics.hpp>
#include <bankwise/support/table.hpp>
#include <bankwise/support/text.hpp>
#include <bankwise/trace/trace.hpp>
#include "bankcheck/driver/fit_report.hpp"
#include "bankcheck/driver/kernel_report.hpp"
#include "bankcheck/predict/predict.hpp"

namespace bankwise::driver {
namespace {

constexpr unsigned max_turns = 4;  // rows of a picture: enough to show the pattern
constexpr std::string_view conflict_colour = "1;31", rule_colour = "2";
constexpr const char* merged_legend =
    "  merged: the passes that remain if the compiler merges neighbouring accesses and drops repeated loads";

// --- Levels ---

/// "0", "1-7", "1, 3, ... 63", "0, 5, 6".
std::string levels_text(const std::vector<std::uint32_t>& levels) {
  constexpr std::size_t longest = 6;
  if (levels.size() < 3) return fmt::format("{}", fmt::join(levels, ", "));
  const std::uint32_t step = levels[1] - levels[0];
  bool is_even = true;
  for (std::size_t i = 1; i < levels.size(); ++i) is_even &= levels[i] - levels[i - 1] == step;
  if (is_even && step == 1) return fmt::format("{}-{}", levels.front(), levels.back());
  if (is_even && levels.size() > 3) return fmt::format("{}, {}, ... {}", levels[0], levels[1], levels.back());
  if (levels.size() <= longest) return fmt::format("{}", fmt::join(levels, ", "));
  return fmt::format("{}, {}, {}, ... {} ({} levels)", levels[0], levels[1], levels[2], levels.back(), levels.size());
}

/// What the levels cost, those with equal costs in one row; "" if all are alike, unless everything is to be shown.
std::string levels_table(const trace::Report& report, bool at_least, bool everything) {
  const std::string before = at_least ? ">=" : "";
  constexpr std::size_t most = 16;
  using Numbers = std::vector<std::string>;
  std::vector<std::pair<Numbers, std::vector<std::uint32_t>>> rows;
  std::map<Numbers, std::size_t> known;
  for (const trace::LevelReport& level : report.levels) {
    if (level.costs.accesses == 0) continue;
    const Numbers numbers{before + report::passes_number(level.costs), before + report::ideal_number(level.costs),
                          report::percent_text(report::alu_utilization(level.costs, report.warp))};
    const auto [row, is_new] = known.try_emplace(numbers, rows.size());
    if (is_new || everything) row->second = rows.size(), rows.emplace_back(numbers, std::vector<std::uint32_t>());
    rows[row->second].second.push_back(level.level);
  }
  if (rows.size() < 2 && !everything) return "";
  const std::size_t shown = everything ? rows.size() : std::min(rows.size(), most);
  const bool folded = std::ranges::any_of(rows, [](auto& row) { return row.second.size() > 1; });
  std::vector<std::vector<std::string>> table{{"level", folded ? "passes of each" : "passes", "ideal", "ALU %"}};
  for (std::size_t i = 0; i < shown; ++i) {
    auto& row = table.emplace_back(std::vector<std::string>{levels_text(rows[i].second)});
    row.insert(row.end(), rows[i].first.begin(), rows[i].first.end());
  }
  std::string text = '\n' + support::format_table(table, 1);
  if (shown == rows.size()) return text;
  std::size_t left = 0;
  for (std::size_t i = shown; i < rows.size(); ++i) left += rows[i].second.size();
  return text +
         fmt::format("  and {}: --verbose lists all of them\n", support::plural(left, "more level", "more levels"));
}

// --- The parts of a kernel's section ---

/// The numbers of the column "conflicts" in red, unless they are 0. The rows end as their head does, whatever is in
/// them, because the column's right end is fixed.
std::string with_red_conflicts(const std::string& table) {
  constexpr std::string_view column = "  conflicts";
  const std::size_t found = table.find(column), end = found + column.size();
  if (found == std::string::npos || found > table.find('\n')) return table;
  std::string text;
  for (std::string& line : lines_of(table)) {
    const std::size_t begin = line.size() >= end ? line.rfind(' ', end - 1) + 1 : end;
    const std::string number = line.substr(std::min(begin, line.size()), end - std::min(begin, end));
    const bool is_count = number.find_first_not_of(">=0123456789,-") == std::string::npos;
    if (is_count && number.find_first_of("123456789") != std::string::npos)
      line.replace(begin, number.size(), support::painted(number, conflict_colour));
    text += line + '\n';
  }
  return text;
}

/// Architectures with the same are in one table.
std::pair<std::vector<banks::Tally>, unsigned> costs_of(const trace::Report& report) {
  std::vector<banks::Tally> tallies{report.all, trace::merged(report).all};
  for (const trace::LineReport& line : report.lines) tallies.insert(tallies.end(), {line.costs, line.merged});
  for (const trace::LevelReport& level : report.levels) tallies.push_back(level.costs);
  return {std::move(tallies), report.warp};
}

std::string tables(const RunReport& report, const KernelReport& kernel, const TextOptions& options) {
  std::string text;
  const auto groups = alike(kernel.reports.size(), [&](std::size_t a) { return costs_of(kernel.reports[a]); });
  for (const auto& [group, costs] : groups) {
    const trace::Report& on = kernel.reports[group.front()];
    if (groups.size() > 1) text += fmt::format("{}  on {}\n", text.empty() ? "" : "\n", names_of(kernel, group));
    const bool at_least = is_incomplete(report, kernel, on);
    report::TableOptions table_options{
        .columns = options.columns, .at_least = at_least, .everything = options.detail == Detail::verbose};
    if (const auto& time = kernel.times[group.front()]; time && time->measured_ns) {
      for (const trace::LineReport& line : on.lines)
        table_options.times.push_back(report::percent(time->most_share(report::most_conflicts(line.costs), 0)));
    }
    const std::string table =
        on.lines.empty() ? "" : support::visible(report::line_table(on, shown_lines(kernel, on.lines), table_options));
    text += options.colour ? with_red_conflicts(table) : table;
    if (!on.engine_lines.empty()) {
      text += table.empty() ? "" : "\n";
      text += support::visible(report::engine_table(on, shown_lines(kernel, on.engine_lines), table_options));
    }
    if (table.substr(0, table.find('\n')).find(" merged") != std::string::npos)
      text += support::wrapped(merged_legend, options.wrap, 4);
    text += levels_table(on, at_least, options.detail == Detail::verbose);
  }
  return text;
}

/// The picture of the worst access of the line with most conflicts, on the first architecture; --json has the
/// addresses to draw it for the others.
std::string worst_picture(const KernelReport& kernel, const Terms& terms, const TextOptions& options) {
  const trace::Report& on = kernel.reports.front();
  const auto order = report::by_cost(on);
  const auto number = std::ranges::find_if(order, [&](std::size_t i) { return on.lines[i].worst.has_value(); });
  if (number == order.end()) return "";
  const trace::LineReport& line = on.lines[*number];
  const auto [access, cost] = worst_cost(*on.architecture, line);
  std::string text = support::wrapped(
      support::visible(fmt::format("worst on {}: {}, {} of {}, {}", on.architecture->name, where(kernel, line.site),
                                   access_text(line), line.array, worst_text(*line.worst, cost, terms))),
      options.wrap, 2);
  const std::string picture = to_text(predict::picture(*on.architecture, access, cost), options.columns, max_turns);
  if (picture.empty()) return '\n' + text;
  text += options.colour ? predict::coloured(picture) : picture;
  std::string legend;
  for (const auto& [sign, meaning] : {std::pair("!", "a bank that needs several passes"),
                                      {"+", "more lanes, which it serves together with this one"},
                                      {" .", "an idle bank"}}) {
    if (picture.find(sign) == std::string::npos) continue;
    legend += fmt::format("{}{}: {}", legend.empty() ? "  " : "; ", sign[0] == ' ' ? sign + 1 : sign, meaning);
  }
  return '\n' + text + support::wrapped(legend, options.wrap, 2);
}

/// Notes on its numbers, and what the program may do but should know of.
std::string notes_text(const KernelReport& kernel, const Terms& terms, const TextOptions& options) {
  constexpr std::string_view prefix = "note: ";
  std::vector<std::string> notes;
  for (const trace::DiagnosisRecord& diagnosis : kernel.trace.diagnoses) {
    if (!trace::row_of(diagnosis.fault).is_remark) continue;
    notes.push_back(fmt::format("{}: {}", where(kernel, kernel.trace.sites.at(diagnosis.site)),
                                sentence_of(diagnosis).substr(prefix.size())));
  }
  for (std::string& note : notes_on(kernel, terms)) notes.push_back(std::move(note));
  std::string text;
  for (const std::string& note : notes)
    text += support::wrapped(support::visible(fmt::format("  note: {}", note)), options.wrap, 4);
  return text;
}

/// The instructions of each line whose two counts differ.
std::string evidence_text(const KernelReport& kernel, const std::vector<EmittedLine>& emitted) {
  std::string text;
  for (const trace::LineReport& line : kernel.reports.front().lines) {
    if (line.costs == line.merged) continue;
    if (const auto evidence = evidence_for(line, emitted)) {
      text += fmt::format("  {} {} {}: {}\n", where(kernel, line.site), to_string(line.operation), line.array,
                          to_text(*evidence));
    }
  }
  if (text.empty()) return text;
  return "  instructions in the machine code, and the count that they agree with:\n" + support::visible(text);
}

/// Whether the lines of a kernel in shared memory are worth a table: they cost something, or less once merged.
bool has_shared_costs(const KernelReport& kernel) {
  return kernel.conflicts() > 0 || kernel.has_unknown() || has_merged(kernel.reports);
}

/// Whether any lines are.
bool has_costs(const KernelReport& kernel) { return has_shared_costs(kernel) || kernel.is_uncoalesced(); }

/// What there is to say of a kernel's accesses to shared memory without a table.
std::string shared_summary(const KernelReport& kernel, const Terms& terms, bool incomplete) {
  if (!kernel.trace.watches_shared) return fmt::format("{} was not watched", terms.memory);
  if (!has_accesses(kernel)) return fmt::format("no access to {}{}", terms.memory, incomplete ? " was recorded" : "");
  return fmt::format("{}, {}", accesses_text(kernel.reports.front(), kernel.trace.watches_global ? terms.memory : ""),
                     no_conflicts_text(kernel, incomplete));
}

/// The tables of both memories, the one that costs more first, and a line for the one that costs nothing.
std::string all_tables(const RunReport& report, const KernelReport& kernel, const TextOptions& options,
                       const std::string& shared_sentence) {
  const bool everything = options.detail == Detail::verbose;
  std::string shared, global = sector_tables(report, kernel, trace::SectorMemory::global, options);
  if (has_accesses(kernel) && (everything || has_shared_costs(kernel))) {
    shared = tables(report, kernel, options) + evidence_text(kernel, report.emitted);
  } else {
    shared = fmt::format("  {}\n", shared_sentence);
  }
  if (const auto remote = sector_tables(report, kernel, trace::SectorMemory::remote, options); !remote.empty())
    shared += '\n' + remote;
  if (const std::string sentence = global_summary(report, kernel); global.empty() && !sentence.empty())
    global = fmt::format("  {}\n", sentence);
  if (global.empty()) return shared;
  return kernel.is_global_first() ? global + '\n' + shared : shared + '\n' + global;
}

std::string section(const RunReport& report, const KernelReport& kernel, const TextOptions& options, bool is_worst) {
  const Terms& terms = terms_of(report.maker);
  const bool incomplete = is_incomplete(report, kernel), everything = options.detail == Detail::verbose;
  std::string text = fmt::format("{}: {}", support::visible(kernel.name), launches_text(kernel, terms));
  const std::string remote = remote_summary(report, kernel), global = global_summary(report, kernel);
  const std::string shared =
      shared_summary(kernel, terms, incomplete) + (remote.empty() ? "" : fmt::format("; {}", remote));
  const bool has_table = everything ? has_accesses(kernel) || !global.empty() : has_costs(kernel);
  if (has_table) {
    text = '\n' + support::wrapped(text, options.wrap, 2) + all_tables(report, kernel, options, shared);
  } else {
    text += fmt::format("; {}{}\n", shared, global.empty() ? "" : "; " + global);
  }
  if (everything || !has_table) {  // else the summary has said it
    for (const std::string& sentence : time_sentences(report, kernel))
      text += support::wrapped("  " + sentence, options.wrap, 4);
  }
  if (everything && kernel.trace.copied_bytes > 0)
    text += fmt::format("  not counted: {}\n", copied_text(kernel.trace.copied_bytes, terms));
  text += notes_text(kernel, terms, options);
  const bool has_picture = everything || (is_worst && !kernel.is_global_first());
  return has_picture ? text + worst_picture(kernel, terms, options) : text;
}

/// What separates the report from the output of the program.
std::string rule(const RunReport& report, const TextOptions& options) {
  std::uint64_t launches = 0;
  for (const KernelReport& kernel : report.kernels) launches += launches_of(kernel.trace);
  const std::string text =
      fmt::format("-- {}: {} of {} --", to_string(report.maker), support::plural(launches, "launch", "launches"),
                  support::plural(number_of(report.kernels), "kernel", "kernels"));
  return (options.colour ? support::painted(text, rule_colour) : text) + '\n';
}

/// All sections: kernels with costs, then the others, of which there may be many.
std::string sections(const RunReport& report, const TextOptions& options) {
  constexpr std::size_t usual = 10, usual_others = 20;
  std::string text, others;
  std::size_t left_out = 0, number = 0, short_ones = 0;
  for (const std::size_t k : worst_first(report.kernels)) {
    const KernelReport& kernel = report.kernels[k];
    const bool everything = options.detail == Detail::verbose, is_long = everything || has_costs(kernel);
    if (is_long && (everything || number < usual)) {
      text += section(report, kernel, options, number++ == 0);
    } else if (!is_long && ++short_ones <= usual_others) {
      others += section(report, kernel, options, false);
    } else {
      ++left_out;
    }
  }
  if (left_out > 0) others += fmt::format("and {} more kernels: --verbose lists all of them\n", left_out);
  return text + (others.empty() ? "" : '\n' + others);
}

/// The only line about the fit of a kernel: "k: no conflicts".
std::string fit_line(const KernelReport& kernel, const KernelFitReport& fit) {
  const auto& arrays = fit.fit.arrays;
  const bool has_doubts = std::ranges::any_of(arrays, [](auto& array) { return !array.doubts.empty(); });
  const std::string summary = fit_summary(fit);
  return support::visible(fmt::format("{}: {}\n", kernel.name,
                                      !summary.empty() ? summary
                                      : arrays.empty() ? "no access to shared memory was recorded"
                                      : has_doubts     ? "no conflicts are known"
                                                       : "no conflicts"));
}

std::string fits_text(const RunReport& report, const TextOptions& options, const std::vector<KernelFitReport>& fits) {
  std::string text;
  for (const std::size_t k : worst_first(report.kernels)) {
    if (fits.empty()) break;
    const bool is_wanted = options.fits_only || options.detail == Detail::verbose ||
                           report.kernels[k].conflicts() > 0 || !fits[k].fit.cures.empty();
    if (!is_wanted) continue;
    if (options.fits_only && options.detail == Detail::summary) {
      text += fit_line(report.kernels[k], fits[k]);
      continue;
    }
    const std::string fit = support::visible(fit_text(report.kernels[k], fits[k], options));
    text += (text.empty() && options.fits_only ? "" : "\n") + (options.colour ? predict::coloured(fit) : fit);
  }
  return text;
}

}  // namespace

std::vector<std::size_t> worst_first(const std::vector<KernelReport>& kernels) {
  std::vector<std::size_t> order(kernels.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const bool by_time = std::ranges::any_of(
      kernels, [](const KernelReport& kernel) { return kernel.is_uncoalesced() || kernel.trace.time.has_value(); });
  std::ranges::stable_sort(order, std::greater(), [&](std::size_t k) {
    return std::pair(by_time ? kernels[k].likely_ns() : 0, kernels[k].conflicts());
  });
  return order;
}

std::string names_of(const KernelReport& kernel, const std::vector<std::size_t>& architectures) {
  std::vector<std::string_view> names;
  for (const std::size_t a : architectures) names.push_back(kernel.reports[a].architecture->name);
  return fmt::format("{}", fmt::join(names, ", "));
}

report::ShownLine shown_line(const KernelReport& kernel, const trace::Site& site) {
  const PlacedLine line = kernel.placed(site);
  return {where(line, site), line.text, line.at};
}

std::string to_text(const RunReport& report, const TextOptions& options, const std::vector<KernelFitReport>& fits) {
  std::string text = gaps_text(report, options);
  if (options.fits_only && options.detail > Detail::quiet) return text + fits_text(report, options, fits);
  text += faults_text(report, options);
  const bool has_conflicts = std::ranges::any_of(report.kernels, [](auto& kernel) { return kernel.conflicts() > 0; });
  if (options.detail > Detail::quiet) text += summary_text(report, options, fits);
  if (options.detail > Detail::summary) text += sections(report, options) + fits_text(report, options, fits);
  if (options.detail > Detail::summary && has_conflicts && !options.next.empty())
    text += support::wrapped("\nnext: " + options.next, options.wrap, 6);
  return options.after_program && !text.empty() && !report.kernels.empty() ? rule(report, options) + text : text;
}

}  // namespace bankwise::driver
