#include <fmt/format.h>

#include <array>
#include <map>

#include <bankwise/report/metrics.hpp>
#include <bankwise/support/numbers.hpp>
#include <bankwise/support/text.hpp>
#include <bankwise/trace/warps.hpp>
#include "bankcheck/driver/html/parts.hpp"

namespace bankwise::driver::html {
namespace {

/// Whether any of the tallies has conflicts, or may have.
bool any_conflicts(const KernelPart& part, banks::Tally trace::LineReport::*costs) {
  return std::ranges::any_of(part.reports(), [&](const trace::Report& report) {
    return std::ranges::any_of(part.lines(), [&](const trace::LineReport& line) {
      const banks::Tally& tally = line_on(report, line).*costs;
      return report::most_conflicts(tally) + tally.unknown > 0;
    });
  });
}

std::string percent_of(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? "" : report::percent_text(double(part) / double(whole));
}

constexpr std::uint32_t max_levels = 1024;  // considered
constexpr std::size_t max_level_rows = 64;

/// For each lane of a warp: how many warps of a level access shared memory with it.
using LaneCounts = std::array<std::uint64_t, banks::max_lanes>;

std::vector<LaneCounts> lane_counts(const trace::KernelTrace& trace, const trace::Report& report) {
  std::vector<LaneCounts> counts(std::min(report.level_count, max_levels));
  const unsigned warps = trace::warps_in(trace, *report.architecture);
  for (const trace::Participants& participants : trace.participants) {
    if (participants.level >= counts.size()) continue;
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

/// "0, 2"; "1-63: 63 levels"; "1, 3, ... 63: 32 levels".
std::string level_names(const std::vector<std::uint32_t>& levels) {
  constexpr std::size_t few = 3;
  if (levels.size() <= few) return fmt::format("{}", fmt::join(levels, ", "));
  const bool is_range = levels.back() - levels.front() + 1 == levels.size();
  return fmt::format("{}: each of {} levels",
                     is_range ? fmt::format("{}-{}", levels.front(), levels.back())
                              : fmt::format("{}, {}, … {}", levels[0], levels[1], levels.back()),
                     levels.size());
}

/// The table of an architecture, without its name. Levels with the same numbers are one row.
std::string levels_table(const KernelPart& part, const trace::Report& report, bool conflicts) {
  const bool has_warps =
      std::ranges::any_of(report.levels, [](const trace::LevelReport& level) { return level.issued_warps > 0; });
  const auto counts = has_warps ? lane_counts(part.kernel.trace, report) : std::vector<LaneCounts>();
  std::vector<std::pair<std::string, std::vector<std::uint32_t>>> rows;
  std::map<std::string, std::size_t> numbers;
  for (const trace::LevelReport& level : report.levels) {
    if (level.costs.accesses == 0 || level.level >= max_levels) continue;
    std::string row;
    if (has_warps) {
      row += fmt::format("<td>{}", grouped(level.issued_warps));
      append_lanes(row, counts[level.level], report.warp, level.issued_warps);
    }
    row += fmt::format("<td>{}", report::percent_text(report::alu_utilization(level.costs, report.warp)));
    append_tally(row, level.costs, part.at_least, conflicts, heat(level.costs.conflicts, report.all.conflicts));
    const auto [number, is_new] = numbers.try_emplace(std::move(row), rows.size());
    if (is_new) rows.emplace_back(number->first, std::vector<std::uint32_t>());
    rows[number->second].second.push_back(level.level);
  }
  std::string html;
  if (has_warps) html += fmt::format("<col><col><col span={} class=lane>", report.warp);
  html += "<thead><tr><th scope=col>level";
  if (has_warps) {
    html += fmt::format("<th scope=col>warps<th scope=colgroup colspan={}>lanes 0 to {}", report.warp, report.warp - 1);
  }
  html += "<th scope=col>ALU&nbsp;%<th scope=col>passes";
  if (conflicts) html += "<th scope=col>ideal<th scope=col>conflicts";
  html += "<tbody>";
  std::size_t shown = 0;
  for (const auto& [row, levels] : rows) {
    if (++shown > max_level_rows) break;
    html += fmt::format("<tr><th scope=row>{}{}", level_names(levels), row);
  }
  end_table(html, rows.size(), max_level_rows, "rows of levels");
  append_rest(html, report.level_count, max_levels, "levels");
  return html;
}

}  // namespace

void begin_numbers(std::string& html, std::string_view label, const std::vector<trace::Report>& reports,
                   const std::vector<Columns>& columns, std::string_view first_heads, std::size_t first_count,
                   const std::vector<std::string_view>& heads, std::string_view last_head) {
  begin_table(html, label, "numbers");
  html += fmt::format("<thead><tr><td colspan={}>", first_count);
  for (const Columns& column : columns) {
    html += fmt::format("<th scope=colgroup colspan={}>{}", heads.size(), names_of(reports, column.architectures));
  }
  html += fmt::format("<tr>{}", first_heads);
  for (std::size_t i = 0; i < columns.size(); ++i) {
    for (const std::string_view head : heads) html += fmt::format("<th scope=col>{}", head);
  }
  html += fmt::format("{}<tbody>", last_head);
}

void append_summary(std::string& html, const std::vector<KernelPart>& parts) {
  const std::size_t rows = std::min(parts.size(), max_lines);
  const auto& reports = parts.front().reports();
  const bool has_global =
      std::ranges::any_of(parts, [](const KernelPart& part) { return has_global_accesses(part.kernel); });
  const auto cells_of = [&](const banks::Tally& costs, const banks::SectorTally& global, bool at_least) {
    std::string cells;
    append_tally(cells, costs, at_least, true);
    const auto share = report::conflict_share(costs);
    append_share(cells, share ? report::percent_text(share) : "");
    if (!has_global) return cells;
    append_number(cells, report::sectors_number(global), at_least);
    append_number(cells, global.unknown > 0 ? "?" : grouped(report::extra_sectors(global)), at_least);
    return cells;
  };
  std::uint64_t launches = 0;
  for (const KernelPart& part : parts) launches += launches_of(part.kernel.trace);
  const auto columns = folded_columns(reports.size(), rows + 1, [&](std::size_t a, std::size_t row) {
    if (row < rows) return cells_of(parts[row].reports()[a].all, parts[row].reports()[a].global, parts[row].at_least);
    banks::Tally all;
    banks::SectorTally global;
    for (const KernelPart& part : parts) {
      all.add(part.reports()[a].all);
      global.add(part.reports()[a].global);
    }
    return cells_of(all, global, std::ranges::any_of(parts, &KernelPart::at_least));
  });
  std::vector<std::string_view> heads{"passes", "ideal", "conflicts", "share"};
  if (has_global) heads.insert(heads.end(), {"sectors", "extra"});
  html += fmt::format("<section id=kernels><h2>Kernels, those that lose the most {} first</h2>",
                      has_global ? "time" : "passes");
  begin_numbers(html, "kernels", reports, columns, "<th scope=col class=t>kernel<th scope=col>launches", 2, heads, "");
  for (std::size_t row = 0; row < rows; ++row) {
    const KernelPart& part = parts[row];
    const std::string name = xml_text(part.kernel.name), shown = xml_text(shortened_name(part.kernel.name));
    html += fmt::format("<tr><th scope=row><a href=\"#k{}\"{}>{}</a><td>{}", part.number,
                        name == shown ? "" : fmt::format(" title=\"{}\"", name), shown,
                        grouped(launches_of(part.kernel.trace)));
    for (const Columns& column : columns) html += column.value[row];
  }
  html += fmt::format("<tfoot><tr><th scope=row>all<td>{}", grouped(launches));
  for (const Columns& column : columns) html += column.value[rows];
  end_table(html, parts.size(), max_lines, "kernels");
  html += "</section>\n";
}

void append_accesses(std::string& html, const KernelPart& part) {
  if (part.lines().empty()) return;
  const auto& reports = part.reports();
  const bool conflicts = any_conflicts(part, &trace::LineReport::costs);
  const bool merged = has_merged(reports);
  const bool merged_conflicts = merged && any_conflicts(part, &trace::LineReport::merged);
  const std::vector<std::size_t> rows = shown_lines(part);
  const auto columns = folded_columns(reports.size(), rows.size(), [&](std::size_t a, std::size_t row) {
    const trace::LineReport& line = line_on(reports[a], part.lines()[rows[row]]);
    const std::uint64_t all = reports[a].all.conflicts;
    std::string cells;
    append_tally(cells, line.costs, part.at_least, conflicts, heat(line.costs.conflicts, all));
    if (conflicts) append_share(cells, line.costs.unknown > 0 ? "" : percent_of(line.costs.conflicts, all));
    if (merged) append_number(cells, report::passes_number(line.merged), part.at_least);
    if (merged_conflicts) append_number(cells, report::conflicts_number(line.merged), part.at_least);
    return cells;
  });
  std::vector<std::string_view> heads{"passes"};
  if (conflicts) heads.insert(heads.end(), {"ideal", "conflicts", "share"});
  if (merged) heads.emplace_back("merged<br>passes");
  if (merged_conflicts) heads.emplace_back("merged<br>conflicts");
  html += conflicts ? "<h3>Accesses, those with the most conflicts first</h3>" : "<h3>Accesses</h3>";
  if (merged) {
    html +=
        "<p class=hint>Merged: the same accesses as a compiler for the device may merge them to wider ones and drop "
        "repeated loads.</p>";
  }
  begin_numbers(html, "accesses", reports, columns,
                "<th scope=col class=t>where<th scope=col class=t>access<th scope=col class=t>array", 3, heads,
                "<th scope=col class=t>source");
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const trace::LineReport& line = part.lines()[rows[row]];
    html += fmt::format(R"(<tr><th scope=row><a href="#{}">{}</a><td class=t>{}-byte {}<td class="t name">{})",
                        id_of(part, rows[row]), xml_text(where(part.kernel, line.site)), line.width,
                        to_string(line.operation), xml_text(line.array));
    end_row(html, columns, row, part.kernel.placed(line.site).text, line.array);
  }
  end_table(html, part.lines().size(), max_lines, "lines");
}

void append_engines(std::string& html, const KernelPart& part) {
  const auto& reports = part.reports();
  const auto& lines = reports.front().engine_lines;
  const std::size_t rows = std::min(lines.size(), max_lines);
  if (rows == 0) return;
  const auto columns = folded_columns(reports.size(), rows, [&](std::size_t a, std::size_t row) {
    std::string cells;
    append_tally(cells, reports[a].engine_lines[row].costs, part.at_least, true);
    return cells;
  });
  html += "<h3>Engines</h3>";
  begin_numbers(html, "engines", reports, columns,
                "<th scope=col class=t>where<th scope=col class=t>engine<th scope=col>count<th scope=col>bytes<th "
                "scope=col>rows of a box",
                5, {"passes", "ideal", "conflicts"}, "<th scope=col class=t>source");
  for (std::size_t i = 0; i < rows; ++i) {
    const trace::EngineLineReport& line = lines[i];
    const PlacedLine source = part.kernel.placed(line.site);
    html += fmt::format("<tr><th scope=row>{}<td class=t>{}<td>{}<td>{}<td>{}", xml_text(where(source, line.site)),
                        to_string(line.engine), grouped(line.costs.accesses), grouped(line.bytes),
                        line.row_bytes == 0 ? "" : fmt::format("{} of {} bytes", grouped(line.rows()), line.row_bytes));
    end_row(html, columns, i, source.text);
  }
  end_table(html, lines.size(), max_lines, "lines");
}

void append_levels(std::string& html, const KernelPart& part) {
  if (part.lines().empty()) return;
  const auto& reports = part.reports();
  const bool all_lanes = std::ranges::all_of(reports, [](const trace::Report& report) {
    return report.level_count == 1 && report::alu_utilization(report.all, report.warp) == 1;
  });
  if (all_lanes) return;
  const bool conflicts = part.has_conflicts();
  html += fmt::format(
      "<h3>Levels of a {0}</h3><p class=hint>A level is what a {0} does between two barriers. Of the warps that access "
      "{1} in it, a dark lane does so in each, a light lane in some. ALU % is the share of lanes that are active in "
      "these accesses.</p><div class=side>",
      part.terms.block, part.terms.memory);
  const auto tables = alike(reports.size(), [&](std::size_t a) { return levels_table(part, reports[a], conflicts); });
  for (const auto& [same, table] : tables) {
    html += "<figure>";
    begin_table(html, "levels", "levels");
    html += fmt::format("<caption>{}</caption>{}</figure>", names_of(reports, same), table);
  }
  html += "</div>";
}

}  // namespace bankwise::driver::html
