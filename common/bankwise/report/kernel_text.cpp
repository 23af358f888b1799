// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <map>

#include <bankwise/report/kernel_text.hpp>
#include <bankwise/report/metrics.hpp>
#include <bankwise/support/table.hpp>

namespace bankwise::report {
namespace {

namespace fs = std::filesystem;

/// The lines of source files, as far as they can be read.
class SourceLines {
 public:
  std::string line(const trace::Site& site) {
    const auto [lines, is_new] = files_.try_emplace(site.file);
    if (is_new) {
      std::ifstream file(site.file);
      for (std::string text; std::getline(file, text);) lines->second.push_back(text);
    }
    if (site.line == 0 || site.line > lines->second.size()) return "";
    const std::string& text = lines->second[site.line - 1];
    const auto begin = text.find_first_not_of(" \t");
    return begin == std::string::npos ? "" : text.substr(begin);
  }

 private:
  std::map<std::string, std::vector<std::string>> files_;
};

/// The shortest path that leads there from the current directory.
std::string shown(const std::string& file) {
  std::error_code error;
  const std::string relative = fs::path(file).lexically_relative(fs::current_path(error)).string();
  return error || relative.empty() || relative.starts_with("..") ? file : relative;
}

std::string percent(const std::optional<double>& fraction) {
  return fraction ? fmt::format("{:.1f} %", 100 * *fraction) : "-";
}

}  // namespace

std::string to_text(const trace::Report& report) {
  std::vector<std::vector<std::string>> rows{
      {"where", "access", "array", "accesses", "lanes", "passes", "ideal", "conflicts", "source"}};
  const bool merged = trace::merging_matters(report);
  if (merged) rows[0].insert(rows[0].end() - 1, {"merged", "conflicts"});
  SourceLines sources;
  for (const trace::LineReport& line : report.lines) {
    const banks::Tally& costs = line.costs;
    rows.push_back({fmt::format("{}:{}", shown(line.site.file), line.site.line),
                    fmt::format("{} {}", to_string(line.operation), line.width), line.array,
                    std::to_string(costs.accesses), fmt::format("{:.1f}", lanes_per_access(costs).value_or(0)),
                    passes_number(costs), ideal_number(costs), conflicts_number(costs), sources.line(line.site)});
    if (!merged) continue;
    const banks::Tally left = merged_line(report, line).costs;
    rows.back().insert(rows.back().end() - 1, {passes_number(left), conflicts_number(left)});
  }
  std::string text;
  for (const std::string& sentence : report.incomplete) text += fmt::format("incomplete: {}\n", sentence);
  for (const std::string& sentence : report.diagnoses) text += sentence + '\n';
  text += fmt::format("{} on {}, {} block{} traced\n", report.kernel, report.architecture->name, report.blocks,
                      report.blocks == 1 ? "" : "s");
  if (!report.lines.empty()) text += format_table(rows, 3, true);
  banks::Tally known = report.all;  // the sum of the costs that are known
  known.unknown = 0;
  text += fmt::format("{}{} accesses: {} passes, ideal {}, conflicts {}; ALU utilization {}, SIMT efficiency {}\n",
                      report.incomplete.empty() ? "" : "at least ", report.all.accesses, passes_number(known),
                      known.ideal, conflicts_number(known), percent(alu_utilization(report.all, report.warp)),
                      percent(simt_efficiency(report.executed_lanes, report.executions, report.warp)));
  if (merged) {
    banks::Tally merged_costs = trace::merged(report).all;
    merged_costs.unknown = 0;
    text += fmt::format("merged by a device compiler: {} accesses: {} passes, ideal {}, conflicts {}\n",
                        merged_costs.accesses, passes_number(merged_costs), merged_costs.ideal,
                        conflicts_number(merged_costs));
  }
  for (const std::string& sentence : report.ranges) text += fmt::format("range: {}\n", sentence);
  for (const std::string& sentence : report.unknown) text += fmt::format("no cost: {}\n", sentence);
  return text;
}

}  // namespace bankwise::report
