// Global memory on the page: a table of its lines, and which bytes of which sectors an access uses.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include <bankwise/report/metrics.hpp>
#include <bankwise/support/numbers.hpp>
#include <bankwise/support/text.hpp>
#include "bankcheck/driver/html/parts.hpp"

namespace bankwise::driver::html {
namespace {

/// Of an access to more cache lines only the first are drawn.
constexpr std::size_t max_drawn = 8;

/// What an access does with a sector: its first byte as an address, the bytes that are used, and by which lanes.
struct DrawnSector {
  std::uint64_t used = 0;  ///< bit b: byte b, or byte 2 b of a sector of 128 bytes and so on
  std::vector<unsigned> lanes;
};

/// "0", "0-7", "0, 8 and 3 more".
std::string lanes_text(const std::vector<unsigned>& lanes) {
  if (lanes.size() == 1) return std::to_string(lanes.front());
  if (lanes.back() - lanes.front() + 1 == lanes.size()) return fmt::format("{}-{}", lanes.front(), lanes.back());
  return lanes.size() == 2 ? fmt::format("{}, {}", lanes[0], lanes[1])
                           : fmt::format("{}, {}, … {}", lanes[0], lanes[1], lanes.back());
}

std::map<std::uint64_t, DrawnSector> sectors_of(const trace::GlobalAccess& access, unsigned width, unsigned bytes) {
  const unsigned bytes_per_bit = std::max(1U, bytes / 64);
  std::map<std::uint64_t, DrawnSector> sectors;
  banks::for_each_lane(access.mask, [&](unsigned lane) {
    for (std::uint64_t byte = access.addresses.at(lane); byte < std::uint64_t{access.addresses[lane]} + width; ++byte) {
      DrawnSector& sector = sectors[byte / bytes];
      sector.used |= std::uint64_t{1} << (byte % bytes / bytes_per_bit);
      if (sector.lanes.empty() || sector.lanes.back() != lane) sector.lanes.push_back(lane);
    }
  });
  return sectors;
}

/// A row for each cache line: its sectors, those that move in the colour of a clash, and their used bytes over it.
std::string picture(const banks::Sectors& memory, const trace::GlobalAccess& access, unsigned width) {
  constexpr unsigned height = 22, row = 26, label = 90, line_width = 512;
  const auto sectors = sectors_of(access, width, memory.sector_bytes);
  const unsigned per_line = std::max(1U, memory.line_bytes / memory.sector_bytes), box = line_width / per_line;
  const unsigned bits = std::min(64U, memory.sector_bytes);
  std::set<std::uint64_t> lines;
  for (const auto& [number, sector] : sectors) lines.insert(number / per_line);
  const std::size_t drawn = std::min(lines.size(), max_drawn);
  std::string svg =
      fmt::format(R"(<svg class=sectors viewBox="0 0 {0} {1}" width={0} height={1} role=img aria-label="{2} in {3}">)",
                  label + line_width, drawn * row, plural(sectors.size(), "sector", "sectors"),
                  plural(lines.size(), "cache line", "cache lines"));
  std::size_t y = 0;
  for (auto line = lines.begin(); line != lines.end() && y < drawn * row; ++line, y += row) {
    svg += fmt::format("<text x=0 y={}>+{}</text>", y + 15, grouped(*line * memory.line_bytes));
    for (unsigned i = 0; i < per_line; ++i) {
      const unsigned x = label + i * box;
      const auto sector = sectors.find(*line * per_line + i);
      const bool moves = sector != sectors.end();
      svg += fmt::format("<rect class={} x={} y={} width={} height={} />", moves ? "moved" : "idle", x, y, box - 2,
                         height);
      if (!moves) continue;
      for (unsigned bit = 0; bit < bits;) {
        unsigned end = bit;
        while (end < bits && (sector->second.used >> end & 1) != 0) ++end;
        if (end > bit) {
          svg += fmt::format("<rect class=used x={:.1f} y={} width={:.1f} height={} />",
                             x + double(box - 2) * bit / bits, y, double(box - 2) * (end - bit) / bits, height);
        }
        bit = std::max(end, bit + 1);
      }
      svg += fmt::format("<text x={} y={}>{}</text>", x + 4, y + 15, lanes_text(sector->second.lanes));
    }
  }
  svg += "</svg>";
  if (drawn < lines.size()) svg += fmt::format("<p class=more>and {} more cache lines</p>", lines.size() - drawn);
  return svg;
}

std::string used_percent(const trace::Report& report, const banks::SectorTally& tally) {
  return report::percent_text(used_share(tally, *report.architecture));
}

/// The numbers of a line, or of all.
std::string cells_of(const trace::Report& report, const banks::SectorTally& all, const banks::SectorTally& costs,
                     bool at_least) {
  std::string cells;
  append_number(cells, grouped(costs.accesses), at_least);
  append_number(cells, report::sectors_number(costs), at_least);
  append_number(cells, report::ideal_number(costs), at_least);
  append_number(cells, costs.unknown > 0 ? "?" : grouped(report::extra_sectors(costs)), at_least,
                heat(report::extra_sectors(costs), report::extra_sectors(all)));
  const std::string used = used_percent(report, costs);
  append_number(cells, used == "-" ? "?" : used + "&nbsp;%", false);
  return cells;
}

const banks::SectorTally& sector_costs_on(const trace::Report& report, const trace::GlobalLineReport& line,
                                          trace::SectorMemory memory = trace::SectorMemory::global) {
  static const banks::SectorTally none;
  const trace::GlobalLineReport* same = same_line(report, line, memory);
  return same == nullptr ? none : same->costs;
}

bool is_global_at_least(const KernelPart& part) {
  return std::ranges::any_of(
      part.reports(), [&](const trace::Report& report) { return is_global_incomplete(part.run, part.kernel, report); });
}

std::string global_id(const KernelPart& part, std::size_t line) { return fmt::format("k{}g{}", part.number, line); }

std::vector<std::size_t> most_extra_first(const std::vector<trace::GlobalLineReport>& lines) {
  std::vector<std::size_t> order = report::by_extra_sectors(lines);
  order.resize(std::min(order.size(), max_lines));
  return order;
}

/// A table of the lines of a memory. Those of global memory are links to the source.
void append_sectors(std::string& html, const KernelPart& part, trace::SectorMemory memory, bool at_least) {
  const auto& reports = part.reports();
  const auto& lines = reports.front().sector_lines(memory);
  const bool is_global = memory == trace::SectorMemory::global;
  const std::vector<std::size_t> rows = most_extra_first(lines);
  const auto columns = folded_columns(reports.size(), rows.size(), [&](std::size_t a, std::size_t row) {
    return cells_of(reports[a], reports[a].sectors(memory), sector_costs_on(reports[a], lines[rows[row]], memory),
                    at_least);
  });
  html += fmt::format("<h3>{}, the lines with the most extra sectors first</h3>",
                      is_global ? "Global memory" : "Shared memory of other blocks");
  begin_numbers(html, is_global ? "global memory" : trace::remote_memory, reports, columns,
                "<th scope=col class=t>where<th scope=col class=t>access<th scope=col class=t>pattern", 3,
                {"accesses", "sectors", "ideal", "extra", "used"}, "<th scope=col class=t>source");
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const std::size_t i = rows[row];
    const trace::GlobalLineReport& line = lines[i];
    const std::string place = xml_text(where(part.kernel, line.site));
    html += fmt::format(R"(<tr><th scope=row>{}<td class=t>{}-byte {}<td class="t name">{})",
                        is_global ? fmt::format(R"(<a href="#{}">{}</a>)", global_id(part, i), place) : place,
                        line.width, to_string(line.operation), xml_text(report::looks_like(reports.front(), line)));
    end_row(html, columns, row, part.kernel.placed(line.site).text);
  }
  end_table(html, lines.size(), max_lines, "lines");
}

}  // namespace

std::vector<std::size_t> shown_global_lines(const KernelPart& part) {
  return most_extra_first(part.reports().front().global_lines);
}

std::string extra_cell(const KernelPart& part, const trace::Report& report, const std::vector<std::size_t>& lines) {
  banks::SectorTally sum;
  for (const std::size_t i : lines) sum.add(sector_costs_on(report, part.reports().front().global_lines[i]));
  std::string cell;
  append_number(cell, sum.unknown > 0 ? "?" : grouped(report::extra_sectors(sum)), is_global_at_least(part),
                heat(report::extra_sectors(sum), report::extra_sectors(report.global)));
  return cell;
}

void append_global_answer(std::string& html, const KernelPart& part) {
  const auto sentences = global_answer(part.run, part.kernel);
  if (sentences.empty()) return;
  const std::size_t worst = report::by_extra_sectors(part.reports().front().global_lines).front();
  html += fmt::format("<p><b><a href=\"#{}\">Global memory</a></b>: {}; {}, in {}", global_id(part, worst),
                      xml_text(sentences[0]), xml_text(sentences[1]), kernel_link(part));
  append_answer_source(html, part, part.reports().front().global_lines[worst].site);
}

void append_time(std::string& html, const KernelPart& part) {
  for (const std::string& sentence : time_sentences(part.run, part.kernel))
    html += fmt::format("<p>{}</p>", xml_text(sentence));
}

void append_global(std::string& html, const KernelPart& part) {
  if (has_global_accesses(part.kernel))
    append_sectors(html, part, trace::SectorMemory::global, is_global_at_least(part));
}

void append_remote(std::string& html, const KernelPart& part) {
  if (!part.reports().front().remote_lines.empty())
    append_sectors(html, part, trace::SectorMemory::remote, part.at_least);
}

void append_global_access(std::string& html, const KernelPart& part, std::size_t number, bool open) {
  const trace::Report& report = part.reports().front();
  const trace::GlobalLineReport& line = report.global_lines[number];
  const auto& memory = report.architecture->sectors.fact;
  const std::string looks = report::looks_like(report, line);
  const std::string sentence = fmt::format(
      "<b>{}-byte {} of global memory</b>: {}{} where {} would do, {} % of the bytes moved are used{}", line.width,
      to_string(line.operation), is_global_at_least(part) ? "≥" : "",
      report::sectors_number(line.costs) + (line.costs.sectors == 1 ? " sector" : " sectors"),
      report::ideal_number(line.costs), used_percent(report, line.costs), looks.empty() ? "" : ": " + xml_text(looks));
  if (!is_uncoalesced(line.costs) || !line.typical || !memory || html.size() > max_page) {
    html += fmt::format("<p class=calm id={}>{}</p>", global_id(part, number), sentence);
    return;
  }
  html += fmt::format(
      "<details id={}{}><summary>{}</summary><figure><figcaption><b>{}</b><br>The access that moves the most, {} of {} "
      "times: a row for each cache line, the lanes of each sector, and the bytes that they use</figcaption>{}</figure>"
      "</details>",
      global_id(part, number), open ? " open" : "", sentence, report.architecture->name, grouped(line.typical->count),
      grouped(line.costs.accesses), picture(*memory, *line.typical, line.width));
}

}  // namespace bankwise::driver::html
