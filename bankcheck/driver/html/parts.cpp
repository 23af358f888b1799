#include "bankcheck/driver/html/parts.hpp"

#include <fmt/format.h>

#include <array>
#include <map>
#include <tuple>

#include <bankwise/report/metrics.hpp>
#include <bankwise/support/text.hpp>
#include <bankwise/trace/warps.hpp>
#include "bankcheck/predict/predict.hpp"

namespace bankwise::driver::html {
namespace {

/// The id of the row of a line, an index into the first report's lines.
std::string id_of(const KernelPart& part, std::size_t line) { return fmt::format("k{}a{}", part.number, line); }

/// A class for the share of a number in a whole: "h0" for none to "h5" for at least half.
std::string_view heat(std::uint64_t number, std::uint64_t whole) {
  if (number == 0 || whole == 0) return "h0";
  const double share = double(number) / double(whole);
  return share < 0.01 ? "h1" : share < 0.05 ? "h2" : share < 0.2 ? "h3" : share < 0.5 ? "h4" : "h5";
}

/// A cell with a number, and "≥" in front of a lower bound.
void append_number(std::string& html, const std::string& number, bool at_least, std::string_view heat_class = "") {
  html += heat_class.empty() ? "<td>" : fmt::format("<td class={}>", heat_class);
  html += at_least && number != "?" ? "\u2265" + number : number;
}

/// Passes, ideal and conflicts.
void append_tally(std::string& html, const KernelPart& part, const banks::Tally& costs,
                  std::string_view heat_class = "") {
  append_number(html, report::passes_number(costs), part.at_least);
  append_number(html, report::ideal_number(costs), part.at_least);
  append_number(html, report::conflicts_number(costs), part.at_least, heat_class);
}

/// Below a table: how many rows it lacks.
void append_rest(std::string& html, std::size_t rows, std::size_t max_rows, std::string_view name) {
  if (rows <= max_rows) return;
  html += fmt::format("<p class=more>and {} more {}: --json lists all of them</p>", rows - max_rows, name);
}

/// The head cells of columns that each architecture has; `columns` per architecture.
void append_architecture_heads(std::string& html, const KernelPart& part, std::size_t columns) {
  for (const trace::Report& report : part.reports()) {
    html += fmt::format("<th scope=colgroup colspan={}>{}", columns, support::xml_text(report.architecture->name));
  }
}

/// Lines of the first report, with what other architectures have for the same line.
const std::vector<trace::LineReport>& lines_of(const KernelPart& part) { return part.reports().front().lines; }

const banks::Tally& costs_on(const trace::Report& report, const trace::LineReport& line) {
  return line_on(report, line).costs;
}

/// Indices of the lines that are shown, those with the most conflicts first: on the first architecture, then on the
/// next.
std::vector<std::size_t> shown_lines(const KernelPart& part) {
  auto lines = by_numbers(lines_of(part).size(), [&](std::size_t i) {
    std::vector<std::uint64_t> conflicts;
    for (const auto& report : part.reports()) conflicts.push_back(costs_on(report, lines_of(part)[i]).conflicts);
    return conflicts;
  });
  lines.resize(std::min(lines.size(), max_lines));
  return lines;
}

void append_numbers(std::string& html, const KernelPart& part, const trace::Report& report,
                    const trace::LineReport& line, bool merged) {
  const banks::Tally& costs = costs_on(report, line);
  append_tally(html, part, costs, heat(costs.conflicts, report.all.conflicts));
  if (!merged) return;
  append_number(html, report::passes_number(line_on(report, line).merged), part.at_least);
  append_number(html, report::conflicts_number(line_on(report, line).merged), part.at_least);
}

/// "4-byte load of tile: 64 passes, ideal 2 on sm_90; ...". Without conflicts the passes are the ideal.
std::string sentence_of(const KernelPart& part, const trace::LineReport& line, bool conflicts) {
  std::string text =
      fmt::format("<b>{}-byte {} of {}</b>:{}", line.width, to_string(line.operation), support::xml_text(line.array),
                  conflicts || line.costs.unknown > 0 ? "" : " no conflict,");
  for (const trace::Report& report : part.reports()) {
    const banks::Tally& costs = costs_on(report, line);
    text += fmt::format("{} {} passes", &report == &part.reports().front() ? "" : ";", report::passes_number(costs));
    if (conflicts) text += fmt::format(", ideal {}", report::ideal_number(costs));
    text += fmt::format(" on {}", report.architecture->name);
  }
  return text;
}

constexpr std::size_t max_turns = 32;  // rows of a picture

/// One row: idle banks next to each other are one cell.
void append_turn(std::string& html, const predict::LaneGroupPicture& lane_group, std::size_t turn) {
  html += fmt::format("<tr><th scope=row>{}", pass_label(lane_group, turn));
  const auto& banks = lane_group.turns[turn];
  for (std::size_t bank = 0; bank < banks.size();) {
    if (banks[bank].empty()) {
      const auto busy = std::find_if(banks.begin() + std::ptrdiff_t(bank), banks.end(),
                                     [](const auto& lanes) { return !lanes.empty(); });
      const auto idle = std::size_t(busy - banks.begin()) - bank;
      html += idle == 1 ? "<td class=i>" : fmt::format("<td class=i colspan={}>", idle);
      bank += idle;
      continue;
    }
    html += collides(lane_group, bank) ? "<td class=x" : "<td";
    if (banks[bank].size() > 1) html += fmt::format(" title=\"lanes {}\"", fmt::join(banks[bank], ", "));
    html += fmt::format(">{}", predict::cell_text(banks[bank]));
    ++bank;
  }
}

/// The rows of a lane group, below its title.
void append_lane_group(std::string& html, const predict::LaneGroupPicture& lane_group, unsigned banks) {
  html += fmt::format("<tbody><tr><th scope=rowgroup colspan={}>{}", banks + 1, lane_group.title);
  const std::size_t shown = std::min(lane_group.turns.size(), max_turns);
  for (std::size_t turn = 0; turn < shown; ++turn) append_turn(html, lane_group, turn);
  if (shown == lane_group.turns.size()) return;
  html += fmt::format("<tr><th scope=row colspan={}>and {} more passes", banks + 1,
                      (lane_group.turns.size() - shown) * lane_group.passes_per_turn);
}

void append_banks(std::string& html, const predict::BankPicture& picture) {
  html += fmt::format("<table class=banks style=--banks:{}><thead><tr><th scope=row>bank", picture.banks);
  for (unsigned bank = 0; bank < picture.banks; ++bank) html += fmt::format("<th scope=col>{}", bank);
  for (const predict::LaneGroupPicture& lane_group : picture.lane_groups)
    append_lane_group(html, lane_group, picture.banks);
  html += "</table>";
}

/// "lane 0: 0, 1: 64, ...".
std::string lane_addresses(const trace::WorstAccess& worst) {
  std::string text;
  banks::for_each_lane(worst.mask, [&](unsigned lane) {
    text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", lane, worst.addresses.at(lane));
  });
  return text;
}

void append_worst(std::string& html, const KernelPart& part, const trace::Report& report,
                  const trace::LineReport& line) {
  const banks::Architecture& model = *report.architecture;
  html += fmt::format("<figure><figcaption><b>{}</b> ({})<br>", support::xml_text(model.name),
                      support::xml_text(model.gpus));
  if (!line.worst) {
    html +=
        line.costs.unknown > 0 ? "The cost is not known.</figcaption></figure>" : "No conflict.</figcaption></figure>";
    return;
  }
  const auto [access, cost] = worst_cost(model, line);
  html += fmt::format("The access with the most conflicts, {}</figcaption>",
                      support::xml_text(worst_text(*line.worst, cost, part.terms)));
  const predict::BankPicture banks = predict::picture(model, access, cost);
  html += "<div class=scroll role=region tabindex=0 aria-label=\"banks and passes\">";
  if (banks.lane_groups.empty()) {
    html += "<p>In which pass a copy serves which lane is not known.</p>";
  } else {
    append_banks(html, banks);
  }
  html += fmt::format("</div><details><summary>byte address of each lane</summary><p class=addresses>{}</p></details>",
                      lane_addresses(*line.worst));
  html += "</figure>";
}

/// The worst access of a line on each architecture: which bank serves which lane in which pass.
void append_pictures(std::string& html, const KernelPart& part, const trace::LineReport& line) {
  html += part.reports().size() == 1 ? "<div class=\"side one\">" : "<div class=side>";
  for (const trace::Report& report : part.reports()) {
    if (const trace::LineReport* same = same_line(report, line)) append_worst(html, part, report, *same);
  }
  html += "</div>";
}

/// What is below a line of the source: an access with its pictures, if it has conflicts.
void append_access(std::string& html, const KernelPart& part, std::size_t number, bool open) {
  const trace::LineReport& line = lines_of(part)[number];
  std::string evidence;
  if (const auto code = line.costs == line.merged ? std::nullopt : evidence_for(line, part.run.emitted)) {
    evidence = fmt::format("<p>Instructions in the machine code, and the count that they agree with: {}</p>",
                           support::xml_text(to_text(*code)));
  }
  const bool conflicts = std::ranges::any_of(part.reports(), [&](const trace::Report& report) {
    const banks::Tally& costs = costs_on(report, line);
    return costs.conflicts + costs.more_conflicts > 0;
  });
  const std::string sentence = sentence_of(part, line, conflicts);
  if (!conflicts || html.size() > max_page) {
    html += fmt::format("<p class=calm id={}>{}</p>{}", id_of(part, number), sentence, evidence);
    return;
  }
  html += fmt::format("<details id={}{}><summary>{}</summary>{}", id_of(part, number), open ? " open" : "", sentence,
                      evidence);
  append_pictures(html, part, line);
  html += "</details>";
}

/// The accesses of a line of the source, and what the page calls it.
struct Listed {
  std::string label;
  std::vector<std::size_t> accesses;  ///< indices of lines of the first report
};

/// By file, line, and offset of the instruction if that is all that is known.
using Listing = std::map<std::tuple<std::string, unsigned, std::uint64_t>, Listed>;

Listing listing_of(const KernelPart& part) {
  Listing listing;
  std::vector<std::size_t> lines = shown_lines(part);
  std::ranges::sort(lines);
  for (const std::size_t i : lines) {
    const PlacedLine& source = part.kernel.lines.front()[i];
    const trace::Site& site = lines_of(part)[i].site;
    Listed& listed = listing[{source.place.file, source.place.line, site.pc.value_or(0)}];
    listed.accesses.push_back(i);
    listed.label = site.pc ? where(source, site) : source.place.line > 0 ? std::to_string(source.place.line) : "?";
  }
  return listing;
}

/// One row of the listing: a line of the source with the conflicts of its accesses.
void append_line(std::string& html, const KernelPart& part, const Listed& listed, const std::string& text,
                 std::size_t worst) {
  html += fmt::format("<tr class=hit><th scope=row>{}", listed.label);
  for (const trace::Report& report : part.reports()) {
    banks::Tally sum;
    for (const std::size_t i : listed.accesses) sum.add(costs_on(report, lines_of(part)[i]));
    append_number(html, report::conflicts_number(sum), part.at_least, heat(sum.conflicts, report.all.conflicts));
  }
  html += fmt::format("<td><code>{}</code>", support::xml_text(text));
  html += fmt::format("<tr class=why><td colspan={}>", part.reports().size() + 2);
  for (const std::size_t i : listed.accesses) append_access(html, part, i, i == worst);
}

void append_excerpt(std::string& html, const KernelPart& part, const SourceExcerpt& excerpt, Listing& listing,
                    std::size_t worst) {
  const auto columns = part.reports().size() + 2;
  html +=
      fmt::format("<tbody><tr class=file><th scope=rowgroup colspan={}>{}", columns, support::xml_text(excerpt.file));
  unsigned next = 0;
  for (const auto& [number, text] : excerpt.lines) {
    if (html.size() > max_page && listing.empty()) break;
    if (next > 0 && number > next) {
      html += fmt::format("<tr class=gap><td colspan={}>{} more {}", columns, number - next,
                          number - next == 1 ? "line" : "lines");
    }
    next = number + 1;
    auto listed = listing.lower_bound({excerpt.file, number, 0});
    const auto end = listing.upper_bound({excerpt.file, number, ~std::uint64_t{0}});
    if (listed == end) {
      html += fmt::format("<tr><th scope=row>{}<td colspan={}><td><code>{}</code>", number, part.reports().size(),
                          support::xml_text(text));
    }
    for (; listed != end; listed = listing.erase(listed)) append_line(html, part, listed->second, text, worst);
  }
}

constexpr std::uint32_t max_levels = 64;

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

void append_level(std::string& html, const KernelPart& part, const trace::Report& report,
                  const trace::LevelReport& level, const LaneCounts* counts) {
  html += fmt::format("<tr><th scope=row>{}", level.level);
  if (counts != nullptr) {
    html += fmt::format("<td>{}", level.issued_warps);
    append_lanes(html, *counts, report.warp, level.issued_warps);
  }
  html += fmt::format("<td>{}", report::percent_text(report::alu_utilization(level.costs, report.warp)));
  append_tally(html, part, level.costs, heat(level.costs.conflicts, report.all.conflicts));
}

void append_table(std::string& html, const KernelPart& part, const trace::Report& report) {
  const bool has_warps =
      std::ranges::any_of(report.levels, [](const trace::LevelReport& level) { return level.issued_warps > 0; });
  const auto counts = has_warps ? lane_counts(part.kernel.trace, report) : std::vector<LaneCounts>();
  html += "<figure><div class=scroll role=region tabindex=0 aria-label=levels><table class=levels>";
  html += fmt::format("<caption>{}</caption>", support::xml_text(report.architecture->name));
  if (has_warps) html += fmt::format("<col><col><col span={} class=lane>", report.warp);
  html += "<thead><tr><th scope=col>level";
  if (has_warps) {
    html += fmt::format("<th scope=col>warps<th scope=colgroup colspan={}>lanes 0 to {}", report.warp, report.warp - 1);
  }
  html += "<th scope=col>ALU&nbsp;%<th scope=col>passes<th scope=col>ideal<th scope=col>conflicts<tbody>";
  for (const trace::LevelReport& level : report.levels) {
    if (level.costs.accesses == 0 || level.level >= max_levels) continue;
    append_level(html, part, report, level, has_warps ? &counts[level.level] : nullptr);
  }
  html += "</table></div>";
  append_rest(html, report.level_count, max_levels, "levels");
  html += "</figure>";
}

}  // namespace

void append_summary(std::string& html, const std::vector<KernelPart>& parts) {
  html +=
      "<section><h2>Kernels, those that lose the most passes first</h2>"
      "<div class=scroll role=region tabindex=0 aria-label=kernels><table class=numbers><thead><tr><td colspan=2>";
  append_architecture_heads(html, parts.front(), 4);
  html += "<tr><th scope=col class=t>kernel<th scope=col>launches";
  for (std::size_t i = 0; i < parts.front().reports().size(); ++i) {
    html += "<th scope=col>passes<th scope=col>ideal<th scope=col>conflicts<th scope=col>share";
  }
  html += "<tbody>";
  for (const KernelPart& part : parts) {
    if (&part - parts.data() == max_lines) break;
    html += fmt::format("<tr><th scope=row><a href=\"#k{}\">{}</a><td>{}", part.number,
                        support::xml_text(part.kernel.name), launches_of(part.kernel.trace));
    for (const trace::Report& report : part.reports()) {
      append_tally(html, part, report.all);
      const std::string share = conflict_share(report);
      html += share.empty() ? std::string("<td>")
                            : fmt::format("<td class=bar style=\"--share:{}%\">{}&nbsp;%", share, share);
    }
  }
  html += "</table></div>";
  append_rest(html, parts.size(), max_lines, "kernels");
  html += "</section>\n";
}

void append_accesses(std::string& html, const KernelPart& part) {
  const auto& reports = part.reports();
  const bool merged = has_merged(reports);
  html += "<h3>Accesses, those with the most conflicts first</h3>";
  if (merged) {
    html +=
        "<p class=hint>Merged: the same accesses as a compiler for the device may merge them to wider ones and drop "
        "repeated loads.</p>";
  }
  html +=
      "<div class=scroll role=region tabindex=0 aria-label=\"accesses\"><table class=numbers><thead>"
      "<tr><td colspan=4>";
  append_architecture_heads(html, part, merged ? 5 : 3);
  html +=
      "<tr><th scope=col class=t>where<th scope=col class=t>access<th scope=col class=t>array<th scope=col "
      "class=t>source";
  for (std::size_t i = 0; i < reports.size(); ++i) {
    html += "<th scope=col>passes<th scope=col>ideal<th scope=col>conflicts";
    if (merged) html += "<th scope=col>merged<th scope=col>conflicts";
  }
  html += "<tbody>";
  for (const std::size_t i : shown_lines(part)) {
    const trace::LineReport& line = lines_of(part)[i];
    const PlacedLine& source = part.kernel.lines.front()[i];
    html += fmt::format(
        R"(<tr><th scope=row><a href="#{}">{}</a><td class=t>{}<td class=t>{}<td class="t excerpt"><code>{}</code>)",
        id_of(part, i), support::xml_text(where(source, line.site)), access_text(line), support::xml_text(line.array),
        support::xml_text(source.text.substr(0, 120)));
    for (const trace::Report& report : reports) append_numbers(html, part, report, line, merged);
  }
  html += "</table></div>";
  append_rest(html, lines_of(part).size(), max_lines, "lines");
}

void append_source(std::string& html, const KernelPart& part, const std::vector<SourceExcerpt>& excerpts) {
  Listing listing = listing_of(part);
  const auto worst = part.kernel.worst_line(0).value_or(shown_lines(part).front());
  html +=
      "<h3>Source, with the conflicts of each line</h3><div class=scroll role=region tabindex=0 aria-label=\"source\">"
      "<table class=source><thead><tr><th scope=col>line";
  for (const trace::Report& report : part.reports()) {
    html += fmt::format("<th scope=col>{}", support::xml_text(report.architecture->name));
  }
  html += "<th scope=col>source";
  for (const SourceExcerpt& excerpt : excerpts) append_excerpt(html, part, excerpt, listing, worst);
  if (!listing.empty()) html += "<tbody>";
  for (const auto& [key, listed] : listing) {  // in no excerpt
    append_line(html, part, listed, part.kernel.lines.front()[listed.accesses.front()].text, worst);
  }
  html += "</table></div>";
}

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
