#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>

#include <bankwise/report/kernel_text.hpp>
#include <bankwise/report/metrics.hpp>
#include <bankwise/support/table.hpp>
#include <bankwise/support/text.hpp>

namespace bankwise::report {
namespace {

namespace fs = std::filesystem;

/// A line of a source file without its indentation; "" if it cannot be read. `files` keeps the lines of each.
std::string source_line(const trace::Site& site, std::map<std::string, std::vector<std::string>>& files) {
  const auto [lines, is_new] = files.try_emplace(site.file);
  if (is_new) {
    std::ifstream file(site.file);
    for (std::string text; std::getline(file, text);) lines->second.push_back(text);
  }
  if (site.line == 0 || site.line > lines->second.size()) return "";
  const std::string& text = lines->second[site.line - 1];
  return text.substr(std::min(text.find_first_not_of(" \t"), text.size()));
}

/// The shortest path that leads there from the current directory.
std::string shown(const std::string& file) {
  std::error_code error;
  const std::string relative = fs::path(file).lexically_relative(fs::current_path(error)).string();
  return error || relative.empty() || relative.starts_with("..") ? file : relative;
}

/// The sum of the costs that are known.
std::string known_costs(banks::Tally tally) {
  tally.unknown = 0;
  return fmt::format("{} accesses: {} passes, ideal {}, conflicts {}", tally.accesses, passes_number(tally),
                     tally.ideal, conflicts_number(tally));
}

}  // namespace

std::string to_text(const trace::Report& report) {
  std::vector<std::vector<std::string>> rows{
      {"where", "access", "array", "accesses", "lanes", "passes", "ideal", "conflicts", "source"}};
  const bool merged = trace::merging_matters(report);
  if (merged) rows[0].insert(rows[0].end() - 1, {"merged", "conflicts"});
  std::map<std::string, std::vector<std::string>> files;
  for (const trace::LineReport& line : report.lines) {
    const banks::Tally& costs = line.costs;
    rows.push_back({fmt::format("{}:{}", shown(line.site.file), line.site.line),
                    fmt::format("{} {}", to_string(line.operation), line.width), line.array,
                    std::to_string(costs.accesses), fmt::format("{:.1f}", lanes_per_access(costs).value_or(0)),
                    passes_number(costs), ideal_number(costs), conflicts_number(costs), source_line(line.site, files)});
    if (!merged) continue;
    rows.back().insert(rows.back().end() - 1, {passes_number(line.merged), conflicts_number(line.merged)});
  }
  std::string text;
  for (const std::string& sentence : report.incomplete) text += fmt::format("incomplete: {}\n", sentence);
  for (const std::string& sentence : report.diagnoses) text += sentence + '\n';
  text += fmt::format("{} on {}, {} traced\n", report.kernel, report.architecture->name,
                      support::plural(report.blocks, "block", "blocks"));
  if (!report.lines.empty()) text += support::format_table(rows, 3, true);
  text += fmt::format("{}{}; ALU utilization {}, SIMT efficiency {}\n", report.incomplete.empty() ? "" : "at least ",
                      known_costs(report.all), percent(alu_utilization(report.all, report.warp)),
                      percent(simt_efficiency(report.executed_lanes, report.executions, report.warp)));
  if (merged) text += fmt::format("merged by a device compiler: {}\n", known_costs(trace::merged(report).all));
  for (const std::string& sentence : report.ranges) text += fmt::format("range: {}\n", sentence);
  for (const std::string& sentence : report.unknown) text += fmt::format("no cost: {}\n", sentence);
  return support::visible(text);
}

}  // namespace bankwise::report
