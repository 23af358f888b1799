// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

#include <bankwise/report/metrics.hpp>
#include <bankwise/support/text.hpp>
#include "bankcheck/driver/html/parts.hpp"

namespace bankwise::driver::html {
namespace {

/// Lines of the first report, with what other architectures have for the same line.
const std::vector<trace::LineReport>& lines_of(const KernelPart& part) { return part.reports().front().lines; }

const banks::Tally& costs_on(const trace::Report& report, const trace::LineReport& line) {
  static const banks::Tally none;
  const trace::LineReport* same = same_line(report, line);
  return same == nullptr ? none : same->costs;
}

bool conflicts_anywhere(const KernelPart& part, const trace::LineReport& line) {
  return std::any_of(part.reports().begin(), part.reports().end(), [&](const trace::Report& report) {
    const banks::Tally& costs = costs_on(report, line);
    return costs.conflicts + costs.more_conflicts > 0;
  });
}

/// Indices of lines, those with the most conflicts first: on the first architecture, then on the next.
std::vector<std::size_t> by_conflicts(const KernelPart& part) {
  std::vector<std::size_t> order(lines_of(part).size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    for (const trace::Report& report : part.reports()) {
      const banks::Tally &left = costs_on(report, lines_of(part)[a]), &right = costs_on(report, lines_of(part)[b]);
      if (left.conflicts != right.conflicts) return left.conflicts > right.conflicts;
    }
    return false;
  });
  return order;
}

void append_numbers(std::string& html, const KernelPart& part, const trace::Report& report,
                    const trace::LineReport& line, bool merged) {
  const banks::Tally& costs = costs_on(report, line);
  append_number(html, report::passes_number(costs), part.at_least);
  append_number(html, report::ideal_number(costs), part.at_least);
  append_number(html, report::conflicts_number(costs), part.at_least, heat(costs.conflicts, report.all.conflicts));
  if (!merged) return;
  const trace::LineReport* same = same_line(report, line);
  const banks::Tally second = same == nullptr ? banks::Tally() : merged_line(report, *same).costs;
  append_number(html, report::passes_number(second), part.at_least);
  append_number(html, report::conflicts_number(second), part.at_least);
}

/// "4-byte load of tile: 64 passes, ideal 2 on sm_90; ...". Without conflicts the passes are the ideal.
std::string sentence_of(const KernelPart& part, const trace::LineReport& line, bool conflicts) {
  std::string text = fmt::format("<b>{}-byte {} of {}</b>:{}", line.width, to_string(line.operation),
                                 xml_text(line.array), conflicts || line.costs.unknown > 0 ? "" : " no conflict,");
  const char* separator = "";
  for (const trace::Report& report : part.reports()) {
    const banks::Tally& costs = costs_on(report, line);
    text += fmt::format("{} {} passes", separator, report::passes_number(costs));
    if (conflicts) text += fmt::format(", ideal {}", report::ideal_number(costs));
    text += fmt::format(" on {}", report.architecture->name);
    separator = ";";
  }
  return text;
}

/// What is below a line of the source: an access with its pictures, if it has conflicts.
void append_access(std::string& html, const KernelPart& part, std::size_t number, bool open) {
  const trace::LineReport& line = lines_of(part)[number];
  std::string evidence;
  if (const trace::MergedLine left = merged_line(part.reports().front(), line); line.costs != left.costs) {
    if (const auto code = evidence_for(line, left, part.run.emitted)) {
      evidence = fmt::format("<p>Instructions in the machine code, and the count that they agree with: {}</p>",
                             xml_text(to_text(*code)));
    }
  }
  const bool conflicts = conflicts_anywhere(part, line);
  const std::string sentence = sentence_of(part, line, conflicts);
  if (!conflicts) {
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
  for (std::size_t i = 0; i < lines_of(part).size(); ++i) {
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
  html += fmt::format("<td><code>{}</code>", xml_text(text));
  html += fmt::format("<tr class=why><td colspan={}>", part.reports().size() + 2);
  for (const std::size_t i : listed.accesses) append_access(html, part, i, i == worst);
}

void append_excerpt(std::string& html, const KernelPart& part, const SourceExcerpt& excerpt, Listing& listing,
                    std::size_t worst) {
  const auto columns = part.reports().size() + 2;
  html += fmt::format("<tbody><tr class=file><th scope=rowgroup colspan={}>{}", columns, xml_text(excerpt.file));
  unsigned next = 0;
  for (const auto& line : excerpt.lines) {  // clang 14: a lambda cannot capture structured bindings
    const unsigned number = line.first;
    const std::string& text = line.second;
    if (next > 0 && number > next) {
      html += fmt::format("<tr class=gap><td colspan={}>{} more {}", columns, number - next,
                          number - next == 1 ? "line" : "lines");
    }
    next = number + 1;
    auto listed = listing.lower_bound({excerpt.file, number, 0});
    const auto is_here = [&] {
      return listed != listing.end() && std::get<0>(listed->first) == excerpt.file &&
             std::get<1>(listed->first) == number;
    };
    if (!is_here()) {
      html += fmt::format("<tr><th scope=row>{}<td colspan={}><td><code>{}</code>", number, part.reports().size(),
                          xml_text(text));
    }
    for (; is_here(); listed = listing.erase(listed)) append_line(html, part, listed->second, text, worst);
  }
}

}  // namespace

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
  for (const std::size_t i : by_conflicts(part)) {
    const trace::LineReport& line = lines_of(part)[i];
    const PlacedLine& source = part.kernel.lines.front()[i];
    html += fmt::format(
        R"(<tr><th scope=row><a href="#{}">{}</a><td class=t>{}<td class=t>{}<td class="t excerpt"><code>{}</code>)",
        id_of(part, i), xml_text(where(source, line.site)), access_text(line), xml_text(line.array),
        xml_text(source.text.substr(0, 120)));
    for (const trace::Report& report : reports) append_numbers(html, part, report, line, merged);
  }
  html += "</table></div>";
}

void append_source(std::string& html, const KernelPart& part, const std::vector<SourceExcerpt>& excerpts) {
  Listing listing = listing_of(part);
  const auto worst = part.kernel.worst_line(0).value_or(by_conflicts(part).front());
  html +=
      "<h3>Source, with the conflicts of each line</h3><div class=scroll role=region tabindex=0 aria-label=\"source\">"
      "<table class=source><thead><tr><th scope=col>line";
  for (const trace::Report& report : part.reports()) {
    html += fmt::format("<th scope=col>{}", xml_text(report.architecture->name));
  }
  html += "<th scope=col>source";
  for (const SourceExcerpt& excerpt : excerpts) append_excerpt(html, part, excerpt, listing, worst);
  if (!listing.empty()) html += "<tbody>";
  for (const auto& [key, listed] : listing) {  // in no excerpt
    append_line(html, part, listed, part.kernel.lines.front()[listed.accesses.front()].text, worst);
  }
  html += "</table></div>";
}

}  // namespace bankwise::driver::html
