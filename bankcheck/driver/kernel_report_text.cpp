#include <fmt/format.h>

#include <algorithm>

#include <bankwise/report/metrics.hpp>
#include <bankwise/support/table.hpp>
#include <bankwise/support/text.hpp>
#include <bankwise/trace/trace.hpp>
#include "bankcheck/driver/kernel_report.hpp"
#include "bankcheck/predict/predict.hpp"

namespace bankwise::driver {
namespace {

using Table = std::vector<std::vector<std::string>>;

constexpr std::uint32_t max_levels = 64;  // shown in a table
constexpr std::size_t longest_line = 60;  // characters of a source line
constexpr unsigned max_turns = 4;         // rows of a picture: enough to show the pattern

Table table_head(const std::vector<trace::Report>& reports) {
  const bool merged = has_merged(reports);
  if (reports.size() == 1) {
    Table head{{"where", "access", "array", "accesses", "lanes", "passes", "ideal", "conflicts"}};
    if (merged) head[0].insert(head[0].end(), {"merged", "conflicts"});
    head[0].emplace_back("source");
    return head;
  }
  Table head{{"", "", ""}, {"where", "access", "array"}};
  for (const trace::Report& report : reports) {
    head[0].insert(head[0].end(), {std::string(report.architecture->name), ""});
    head[1].insert(head[1].end(), {"passes", "conflicts"});
    if (!merged) continue;
    head[0].insert(head[0].end(), {"", ""});
    head[1].insert(head[1].end(), {"merged", "conflicts"});
  }
  head[0].emplace_back();
  head[1].emplace_back("source");
  return head;
}

/// `merged` is null without columns for it.
std::vector<std::string> numbers_of(const banks::Tally& tally, const banks::Tally* merged, bool alone) {
  std::vector<std::string> numbers;
  if (alone) {
    numbers = {std::to_string(tally.accesses), fmt::format("{:.1f}", report::lanes_per_access(tally).value_or(0)),
               report::passes_number(tally), report::ideal_number(tally), report::conflicts_number(tally)};
  } else {
    numbers = {report::passes_text(tally), report::conflicts_number(tally)};
  }
  if (merged == nullptr) return numbers;
  numbers.push_back(alone ? report::passes_number(*merged) : report::passes_text(*merged));
  numbers.push_back(report::conflicts_number(*merged));
  return numbers;
}

std::string lines_table(const KernelReport& kernel, bool incomplete) {
  const auto& reports = kernel.reports;
  const bool alone = reports.size() == 1, merged = has_merged(reports);
  Table table = table_head(reports);
  const auto append = [](std::vector<std::string>& row, const std::vector<std::string>& numbers) {
    row.insert(row.end(), numbers.begin(), numbers.end());
  };
  for (std::size_t i = 0; i < reports.front().lines.size(); ++i) {
    const trace::LineReport& line = reports.front().lines[i];
    auto& row = table.emplace_back(
        std::vector<std::string>{where(kernel.lines.front()[i], line.site), access_text(line), line.array});
    for (const trace::Report& report : reports) {
      const trace::LineReport& numbers = line_on(report, line);
      append(row, numbers_of(numbers.costs, merged ? &numbers.merged : nullptr, alone));
    }
    row.push_back(kernel.lines.front()[i].text.substr(0, longest_line));
  }
  auto& total = table.emplace_back(std::vector<std::string>{"all", "", ""});
  for (const trace::Report& report : reports) {
    auto numbers = numbers_of(report.all, merged ? &trace::merged(report).all : nullptr, alone);
    if (incomplete || !report.incomplete.empty()) {  // they are lower bounds
      for (std::string& number : numbers) number = ">=" + number;
    }
    append(total, numbers);
  }
  total.emplace_back();
  return support::format_table(table, 3, true);
}

std::string levels_table(const trace::Report& report, std::size_t widest) {
  Table table{{std::string(report.architecture->name), "level"}, {"", "passes"}, {"", "ALU %"}};
  for (const trace::LevelReport& level : report.levels) {
    if (level.costs.accesses == 0 || level.level >= max_levels) continue;
    table[0].push_back(std::to_string(level.level));
    table[1].push_back(report::passes_text(level.costs));
    table[2].push_back(report::percent_text(report::alu_utilization(level.costs, report.warp)));
  }
  std::string text = support::format_wide_table(table, 2, widest);
  if (report.level_count > max_levels) {
    text += fmt::format("  and {} more levels: --json lists all of them\n", report.level_count - max_levels);
  }
  return text;
}

/// The picture of the worst access on the first architecture; --json has the addresses to draw it for the others.
std::string worst_picture(const KernelReport& kernel, const Terms& terms, unsigned columns) {
  const auto number = kernel.worst_line(0);
  if (!number) return "";
  const trace::LineReport& line = kernel.reports.front().lines[*number];
  const banks::Architecture& model = *kernel.reports.front().architecture;
  const auto [access, cost] = worst_cost(model, line);
  return fmt::format("worst on {}: {}, {} of {}, {}\n", model.name, where(kernel.lines.front()[*number], line.site),
                     access_text(line), line.array, worst_text(*line.worst, cost, terms)) +
         to_text(predict::picture(model, access, cost), columns, max_turns) + '\n';
}

std::string remarks(const KernelReport& kernel, const Terms& terms) {
  std::string text;
  for (const std::string& note : notes_on(kernel, terms)) text += fmt::format("note: {}\n", note);
  if (const std::string bytes = not_counted(kernel, terms); !bytes.empty())
    text += fmt::format("not counted: {}\n", bytes);
  return text;
}

/// What the program does wrong, before its costs.
std::string diagnoses_text(const KernelReport& kernel) {
  constexpr std::size_t most_shown = 20, most_pairs = 8;
  const auto& diagnoses = kernel.trace.diagnoses;
  const auto& sites = kernel.trace.sites;
  const auto causes = kernel.diagnoses_by_cause();
  std::string text;
  for (std::size_t c = 0; c < std::min(causes.size(), most_shown); ++c) {
    const std::size_t first = causes[c].front(), others = causes[c].size() - 1;
    text += fmt::format("  {}: {}\n", where(kernel.diagnoses[first], sites.at(diagnoses[first].site)),
                        sentence_of(diagnoses[first]));
    if (others == 0) continue;
    text += fmt::format("    and {} in {}, most likely for the same reason, a missing __syncwarp(): lines",
                        support::plural(others, "more race", "more races"), sites.at(diagnoses[first].site).function);
    for (std::size_t i = 1; i <= std::min(others, most_pairs); ++i) {
      const trace::DiagnosisRecord& race = diagnoses[causes[c][i]];
      text += fmt::format("{} {} and {}", i == 1 ? "" : ",", sites.at(race.site).line,
                          sites.at(race.other.value_or(race.site)).line);
    }
    text += others > most_pairs ? ", ...\n" : "\n";
  }
  if (causes.size() > most_shown)
    text += fmt::format("  and {} more: --json lists all of them\n", causes.size() - most_shown);
  return text;
}

/// The instructions of each line whose two counts differ.
std::string evidence_text(const KernelReport& kernel, const std::vector<EmittedLine>& emitted) {
  std::string text;
  const auto& lines = kernel.reports.front().lines;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].costs == lines[i].merged) continue;
    if (const auto evidence = evidence_for(lines[i], emitted)) {
      text += fmt::format("  {} {} {}: {}\n", where(kernel.lines.front()[i], lines[i].site),
                          to_string(lines[i].operation), lines[i].array, to_text(*evidence));
    }
  }
  return text.empty() ? text : "instructions in the machine code, and the count that they agree with:\n" + text + '\n';
}

std::string to_text(const KernelReport& kernel, const Terms& terms, bool incomplete, unsigned columns,
                    const std::vector<EmittedLine>& emitted) {
  std::string text = fmt::format("{}: {}\n", kernel.name, launches_text(kernel.trace, terms));
  text += diagnoses_text(kernel);
  if (!has_accesses(kernel)) {
    return text + fmt::format("  no access to {}{}\n", terms.memory, incomplete ? " was recorded" : "") +
           remarks(kernel, terms) + '\n';
  }
  text += lines_table(kernel, incomplete);
  text += evidence_text(kernel, emitted);
  for (const trace::Report& report : kernel.reports) {
    const std::string share = terms.simulated ? "" : conflict_share(report);
    if (!share.empty())
      text += fmt::format("  {}: conflicts are {} % of the passes\n", report.architecture->name, share);
  }
  text += '\n';
  for (const trace::Report& report : kernel.reports) text += levels_table(report, columns);
  text += '\n' + remarks(kernel, terms);
  return text + worst_picture(kernel, terms, columns);
}

}  // namespace

std::string to_text(const RunReport& report, unsigned columns) {
  const Terms& terms = terms_of(report.maker);
  std::string text;
  for (const std::string& sentence : report.incomplete) text += fmt::format("incomplete: {}\n", sentence);
  if (!report.incomplete.empty()) text += '\n';
  for (const KernelReport& kernel : report.kernels) {
    text += to_text(kernel, terms, report.failed || !report.incomplete.empty(), columns, report.emitted);
  }
  return text;
}

}  // namespace bankwise::driver
