// SPDX-License-Identifier: MIT
//
// Tables omit the end tags of cells and rows, as HTML allows: there are very many of them.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include <bankwise/support/text.hpp>
#include "bankcheck/driver/html/parts.hpp"
#include "bankcheck/predict/bank_picture.hpp"

namespace bankwise::driver::html {
namespace {

constexpr std::size_t max_turns = 32;  // rows of a picture

std::string numbers_list(const std::vector<unsigned>& numbers) { return fmt::format("{}", fmt::join(numbers, ", ")); }

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
    if (banks[bank].size() > 1) html += fmt::format(" title=\"lanes {}\"", numbers_list(banks[bank]));
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
  html += fmt::format("<figure><figcaption><b>{}</b> ({})<br>", xml_text(model.name), xml_text(model.gpus));
  if (!line.worst) {
    html +=
        line.costs.unknown > 0 ? "The cost is not known.</figcaption></figure>" : "No conflict.</figcaption></figure>";
    return;
  }
  const auto [access, cost] = worst_cost(model, line);
  html += fmt::format("The access with the most conflicts, {}</figcaption>",
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
  html += "</figure>";
}

}  // namespace

void append_pictures(std::string& html, const KernelPart& part, const trace::LineReport& line) {
  html += part.reports().size() == 1 ? "<div class=\"side one\">" : "<div class=side>";
  for (const trace::Report& report : part.reports()) {
    if (const trace::LineReport* same = same_line(report, line)) append_worst(html, part, report, *same);
  }
  html += "</div>";
}

}  // namespace bankwise::driver::html
