#include <fmt/format.h>

#include <bankwise/support/text.hpp>
#include "bankcheck/driver/html/parts.hpp"
#include "bankcheck/predict/predict.hpp"

namespace bankwise::driver::html {
namespace {

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
  return html;
}

}  // namespace

void append_pictures(std::string& html, const KernelPart& part, const trace::LineReport& line) {
  const auto& reports = part.reports();
  const auto figures =
      alike(reports.size(), [&](std::size_t a) { return worst_access(part, reports[a], line_on(reports[a], line)); });
  for (const auto& [same, figure] : figures)
    html += fmt::format("<figure><figcaption><b>{}</b><br>{}</figure>", names_of(reports, same, true), figure);
}

}  // namespace bankwise::driver::html
