// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include <bankwise/report/metrics.hpp>
#include <bankwise/support/text.hpp>
#include <bankwise/trace/warps.hpp>
#include "bankcheck/driver/html/parts.hpp"

namespace bankwise::driver::html {
namespace {

constexpr std::size_t max_levels = 64;

/// For each lane of a warp: how many warps of a level access shared memory with it.
using LaneCounts = std::array<std::uint64_t, banks::max_lanes>;

std::vector<LaneCounts> lane_counts(const trace::KernelTrace& trace, const trace::Report& report) {
  std::vector<LaneCounts> counts(report.levels.size());
  const unsigned warps = trace::warps_in(trace, *report.architecture);
  for (const trace::Participants& participants : trace.participants) {
    for (unsigned i = 0; i < warps; ++i) {
      banks::for_each_lane(trace::lanes_in(participants.mask, report.warp, i),
                           [&](unsigned lane) { counts.at(participants.level)[lane] += participants.count; });
    }
  }
  return counts;
}

/// From 0 for no warp to 4 for all.
unsigned shade_of(std::uint64_t count, std::uint64_t warps) {
  if (count == 0 || count >= warps) return count == 0 ? 0 : 4;
  return 1 + unsigned(3 * (count - 1) / std::max<std::uint64_t>(warps - 1, 1));
}

/// The lanes of a level: neighbours that are active in equally many warps are one cell.
void append_lanes(std::string& html, const LaneCounts& counts, unsigned lanes, std::uint64_t warps) {
  for (unsigned lane = 0; lane < lanes;) {
    unsigned end = lane + 1;
    while (end < lanes && counts[end] == counts[lane]) ++end;
    const std::string range =
        end == lane + 1 ? fmt::format("lane {}", lane) : fmt::format("lanes {}-{}", lane, end - 1);
    const std::string sentence = fmt::format("{}: {} of {} warps", range, counts[lane], warps);
    html += fmt::format("<td class=a{} colspan={} title=\"{}\"><span class=hide>{}</span>",
                        shade_of(counts[lane], warps), end - lane, sentence, sentence);
    lane = end;
  }
}

void append_level(std::string& html, const KernelPart& part, const trace::Report& report,
                  const trace::LevelReport& level, const LaneCounts* counts) {
  html += fmt::format("<tr><th scope=row>{}", level.level);
  if (counts != nullptr) {
    html += fmt::format("<td>{}", level.issued_warps);
    append_lanes(html, *counts, report.warp, level.issued_warps);
  }
  html += fmt::format("<td>{}", report::percent_text(report::alu_utilization(level.costs, report.warp)));
  append_number(html, report::passes_number(level.costs), part.at_least);
  append_number(html, report::ideal_number(level.costs), part.at_least);
  append_number(html, report::conflicts_number(level.costs), part.at_least,
                heat(level.costs.conflicts, report.all.conflicts));
}

void append_table(std::string& html, const KernelPart& part, const trace::Report& report) {
  const bool has_warps = std::any_of(report.levels.begin(), report.levels.end(),
                                     [](const trace::LevelReport& level) { return level.issued_warps > 0; });
  const auto counts = has_warps ? lane_counts(part.kernel.trace, report) : std::vector<LaneCounts>();
  html += "<figure><div class=scroll role=region tabindex=0 aria-label=levels><table class=levels>";
  html += fmt::format("<caption>{}</caption>", xml_text(report.architecture->name));
  if (has_warps) html += fmt::format("<col><col><col span={} class=lane>", report.warp);
  html += "<thead><tr><th scope=col>level";
  if (has_warps) {
    html += fmt::format("<th scope=col>warps<th scope=colgroup colspan={}>lanes 0 to {}", report.warp, report.warp - 1);
  }
  html += "<th scope=col>ALU&nbsp;%<th scope=col>passes<th scope=col>ideal<th scope=col>conflicts<tbody>";
  for (std::size_t i = 0; i < std::min(report.levels.size(), max_levels); ++i) {
    const trace::LevelReport& level = report.levels[i];
    if (level.costs.accesses > 0) append_level(html, part, report, level, has_warps ? &counts[i] : nullptr);
  }
  html += "</table></div>";
  if (report.levels.size() > max_levels) {
    html += fmt::format("<p class=more>and {} more levels: --json lists all of them</p>",
                        report.levels.size() - max_levels);
  }
  html += "</figure>";
}

}  // namespace

void append_levels(std::string& html, const KernelPart& part) {
  html += fmt::format(
      "<h3>Levels of a {0}</h3><p class=hint>A level is what a {0} does between two barriers. A lane is dark in a "
      "level if "
      "it accesses {1} in all warps that do, and light if only in some. ALU % is the share of lanes that are active "
      "in these accesses.</p><div class=side>",
      part.terms.block, part.terms.memory);
  for (const trace::Report& report : part.reports()) append_table(html, part, report);
  html += "</div>";
}

}  // namespace bankwise::driver::html
