#include <fmt/format.h>

#include <map>
#include <optional>
#include <tuple>

#include <bankwise/report/metrics.hpp>
#include <bankwise/support/text.hpp>
#include "bankcheck/driver/html/parts.hpp"
#include "bankcheck/predict/predict.hpp"

namespace bankwise::driver::html {
namespace {

// --- Pictures ---

/// Of a lane group with more rows only the first and the last are shown: one row is like the other.
constexpr std::size_t max_turns = 8, first_turns = 5;

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

/// The row for those from `begin` to before `end`: how many banks they have in use.
void append_folded(std::string& html, const predict::LaneGroupPicture& lane_group, unsigned banks, std::size_t begin,
                   std::size_t end) {
  std::size_t fewest = banks, most = 0;
  for (std::size_t turn = begin; turn < end; ++turn) {
    const auto busy =
        std::size_t(std::ranges::count_if(lane_group.turns[turn], [](const auto& lanes) { return !lanes.empty(); }));
    fewest = std::min(fewest, busy);
    most = std::max(most, busy);
  }
  const std::string busy = fewest == most ? std::to_string(most) : fmt::format("{} to {}", fewest, most);
  html += fmt::format("<tr class=fold><th scope=row>…<td colspan={}>{} more passes, with {} of {} banks busy in each",
                      banks, (end - begin) * lane_group.passes_per_turn, busy, banks);
}

/// The rows of a lane group, below its title.
void append_lane_group(std::string& html, const predict::LaneGroupPicture& lane_group, unsigned banks) {
  html += fmt::format("<tbody><tr><th scope=rowgroup colspan={}>{}", banks + 1, lane_group.title);
  const std::size_t turns = lane_group.turns.size(), first = turns > max_turns ? first_turns : turns;
  for (std::size_t turn = 0; turn < first; ++turn) append_turn(html, lane_group, turn);
  if (first == turns) return;
  append_folded(html, lane_group, banks, first, turns - 1);
  append_turn(html, lane_group, turns - 1);
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

/// The figure below the names of its architectures.
std::string worst_access(const KernelPart& part, const trace::Report& report, const trace::LineReport& line) {
  const banks::Architecture& model = *report.architecture;
  if (!line.worst) {
    return line.costs.unknown > 0 ? "The cost is not known.</figcaption>" : "No conflict.</figcaption>";
  }
  const auto [access, cost] = worst_cost(model, line);
  std::string html = fmt::format("The access with the most conflicts, {}</figcaption>",
                                 xml_text(worst_text(*line.worst, cost, part.terms)));
  const predict::BankPicture banks = predict::picture(model, access, cost);
  html += "<div class=scroll role=region tabindex=0 aria-label=\"banks and passes\">";
  if (banks.lane_groups.empty()) {
    html += "<p>In which pass a copy serves which lane is not known.</p>";
  } else {
    append_banks(html, banks);
  }
  html += fmt::format("</div><details><summary>byte address of each lane</summary><p class=addresses>{}</p></details>",
                      lane_addresses(*line.worst));
  return html;
}

/// The worst access of a line on each architecture: which bank serves which lane in which pass.
void append_pictures(std::string& html, const KernelPart& part, const trace::LineReport& line) {
  const auto& reports = part.reports();
  const auto figures =
      alike(reports.size(), [&](std::size_t a) { return worst_access(part, reports[a], line_on(reports[a], line)); });
  for (const auto& [same, figure] : figures)
    html += fmt::format("<figure><figcaption><b>{}</b><br>{}</figure>", names_of(reports, same, true), figure);
}

// --- The table ---

/// "8-way conflict: 4-byte load of tile, 64 passes where 2 would do on sm_90; ...".
std::string sentence_of(const KernelPart& part, const trace::LineReport& line, bool conflicts) {
  const auto& reports = part.reports();
  const auto costs = alike(reports.size(), [&](std::size_t a) {
    const trace::LineReport& same = line_on(reports[a], line);
    const bool in_conflict = report::most_conflicts(same.costs) > 0;
    return fmt::format("{}{}", in_conflict ? conflict_name(*reports[a].architecture, same, part.at_least) + ", " : "",
                       passes_sentence(same.costs, part.at_least));
  });
  std::string text =
      fmt::format("<b>{}-byte {} of {}</b>: ", line.width, to_string(line.operation), xml_text(line.array));
  for (const auto& [same, cost] : costs) {
    text += fmt::format("{}{}", &cost == &costs.front().value ? "" : "; ", cost);
    if (conflicts || costs.size() > 1) text += " on " + names_of(reports, same);
  }
  return text;
}

/// What is below a line of the source: an access with its pictures, if it has conflicts.
void append_access(std::string& html, const KernelPart& part, std::size_t number, bool open) {
  const trace::LineReport& line = part.lines()[number];
  std::string evidence;
  if (const auto code = line.costs == line.merged ? std::nullopt : evidence_for(line, part.run.emitted)) {
    evidence = fmt::format("<p>Instructions in the machine code, and the count that they agree with: {}</p>",
                           xml_text(to_text(*code)));
  }
  const bool conflicts = std::ranges::any_of(part.reports(), [&](const trace::Report& report) {
    return report::most_conflicts(line_on(report, line).costs) > 0;
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
  std::vector<std::size_t> accesses;  ///< indices of lines of the first report, those that cost most first
  std::vector<std::size_t> global;    ///< the same of its lines of global memory
  std::size_t row = 0;                ///< of the columns
};

/// By file, line, and offset of the instruction if that is all that is known.
using Listing = std::map<std::tuple<std::string, unsigned, std::uint64_t>, Listed>;

Listing listing_of(const KernelPart& part) {
  Listing listing;
  const auto listed_at = [&](const trace::Site& site) -> Listed& {
    const PlacedLine source = part.kernel.placed(site);
    Listed& listed = listing[{source.place.file, source.place.line, site.pc.value_or(0)}];
    listed.label = site.pc ? where(source, site) : source.place.line > 0 ? std::to_string(source.place.line) : "?";
    return listed;
  };
  for (const std::size_t i : shown_lines(part)) listed_at(part.lines()[i].site).accesses.push_back(i);
  const auto& global = part.reports().front().global_lines;
  for (const std::size_t i : shown_global_lines(part)) listed_at(global[i].site).global.push_back(i);
  return listing;
}

/// The table of a kernel: architectures that have the same conflicts in all lines share a column.
class SourceTable {
 public:
  explicit SourceTable(const KernelPart& part) : part_(part), listing_(listing_of(part)) {
    const auto& reports = part.reports();
    if (!part.lines().empty()) worst_ = shown_lines(part).front();
    if (part.kernel.is_uncoalesced()) worst_global_ = shown_global_lines(part).front();
    std::vector<const Listed*> rows;
    for (auto& [key, listed] : listing_) {
      listed.row = rows.size();
      rows.push_back(&listed);
    }
    if (part.kernel.is_uncoalesced()) {
      extra_ = folded_columns(reports.size(), rows.size(), [&](std::size_t a, std::size_t row) {
        return extra_cell(part, reports[a], rows[row]->global);
      });
    }
    if (!part.has_conflicts()) return;
    columns_ = folded_columns(reports.size(), rows.size(), [&](std::size_t a, std::size_t row) {
      banks::Tally sum;
      for (const std::size_t i : rows[row]->accesses) sum.add(line_on(reports[a], part.lines()[i]).costs);
      std::string cell;
      append_number(cell, report::conflicts_number(sum), part.at_least, heat(sum.conflicts, reports[a].all.conflicts));
      return cell;
    });
  }

  void append(std::string& html) {
    begin_table(html, "source", "source");
    html += "<thead><tr><th scope=col>line";
    for (const auto& [columns, name] : {std::pair(&columns_, "conflicts"), {&extra_, "extra sectors"}}) {
      for (const Columns& column : *columns) {
        html += fmt::format("<th scope=col>{}{}", name,
                            columns->size() == 1 ? "" : " on " + names_of(part_.reports(), column.architectures));
      }
    }
    html += "<th scope=col>source";
    for (const SourceExcerpt& excerpt : part_.sources) append_excerpt(html, excerpt);
    if (!listing_.empty()) html += "<tbody>";
    for (const auto& [key, listed] : listing_) {  // in no excerpt
      const trace::Site& site = listed.accesses.empty()
                                    ? part_.reports().front().global_lines[listed.global.front()].site
                                    : part_.lines()[listed.accesses.front()].site;
      append_line(html, listed, part_.kernel.placed(site).text);
    }
    html += "</table></div>";
  }

 private:
  /// A line of the source with the conflicts of its accesses.
  void append_line(std::string& html, const Listed& listed, const std::string& text) const {
    html += fmt::format("<tr class=hit><th scope=row>{}", listed.label);
    for (const auto* columns : {&columns_, &extra_}) {
      for (const Columns& column : *columns) html += column.value[listed.row];
    }
    html += fmt::format("<td><code>{}</code>", xml_text(text));
    html += fmt::format("<tr class=why><td colspan={}>", number_columns() + 2);
    for (const std::size_t i : listed.accesses) append_access(html, part_, i, i == worst_);
    for (const std::size_t i : listed.global) append_global_access(html, part_, i, i == worst_global_);
  }

  std::size_t number_columns() const { return columns_.size() + extra_.size(); }

  void append_excerpt(std::string& html, const SourceExcerpt& excerpt) {
    html += fmt::format("<tbody><tr class=file><th scope=rowgroup colspan={}>{}", number_columns() + 2,
                        xml_text(excerpt.file));
    unsigned next = 0;
    for (const auto& [number, text] : excerpt.lines) {
      if (html.size() > max_page && listing_.empty()) break;
      if (next > 0 && number > next) {
        html += fmt::format("<tr class=gap><th scope=row>…<td colspan={}>{} more {}", number_columns() + 1,
                            number - next, number - next == 1 ? "line" : "lines");
      }
      next = number + 1;
      auto listed = listing_.lower_bound({excerpt.file, number, 0});
      const auto end = listing_.upper_bound({excerpt.file, number, ~std::uint64_t{0}});
      if (listed == end) {
        html += fmt::format("<tr><th scope=row>{}", number);
        if (number_columns() > 0) html += fmt::format("<td colspan={}>", number_columns());
        html += fmt::format("<td><code>{}</code>", xml_text(text));
      }
      for (; listed != end; listed = listing_.erase(listed)) append_line(html, listed->second, text);
    }
  }

  const KernelPart& part_;
  Listing listing_;                       ///< the lines that are not yet on the page
  std::vector<Columns> columns_, extra_;  ///< conflicts, and extra sectors
  std::size_t worst_ = 0;
  std::optional<std::size_t> worst_global_;
};

}  // namespace

void append_source(std::string& html, const KernelPart& part) {
  if (part.lines().empty() && part.reports().front().global_lines.empty()) return;
  html += part.has_conflicts() ? "<h3>Source, with the conflicts of each line</h3>" : "<h3>Source</h3>";
  SourceTable(part).append(html);
}

}  // namespace bankwise::driver::html
