// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <bankwise/support/xml.hpp>
#include "bankcheck/predict/bank_picture.hpp"

namespace bankwise {
namespace {

constexpr int side = 26, left = 64, head = 40, group_head = 40, gap = 12;  // pixels

int column(std::size_t bank) {
  return left + side * int(bank);
}

std::string text_at(int x, int y, const std::string& text, const char* fill) {
  return fmt::format("<text x=\"{}\" y=\"{}\" fill=\"{}\">{}</text>\n", x, y, fill, xml_text(text));
}

std::string in_cell(std::size_t bank, int y, const std::string& text, const char* fill) {
  return fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\" fill=\"{}\">{}</text>\n", column(bank) + side / 2,
                     y, fill, text);
}

/// A row of cells.
std::string turn_svg(const LaneGroupPicture& lane_group, std::size_t turn, int top) {
  std::string svg = text_at(12, top + 17, pass_label(lane_group, turn), "#777777");
  for (std::size_t bank = 0; bank < lane_group.turns[turn].size(); ++bank) {
    const auto& lanes = lane_group.turns[turn][bank];
    const char* fill = lanes.empty() ? "#f4f4f4" : collides(lane_group, bank) ? "#f2b8b0" : "#bcd9f0";
    svg += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\" stroke=\"#ffffff\"/>\n",
                       column(bank), top, side, side, fill);
    if (!lanes.empty()) svg += in_cell(bank, top + 17, cell_text(lanes), "#222222");
  }
  return svg;
}

}  // namespace

std::string to_svg(const BankPicture& picture, const std::string& title) {
  std::string body =
      fmt::format("<text x=\"12\" y=\"24\" font-size=\"14\" fill=\"#222222\">{}</text>\n", xml_text(title));
  int top = head;
  for (const LaneGroupPicture& lane_group : picture.lane_groups) {
    body += text_at(12, top + 14, lane_group.title, "#222222") + text_at(12, top + 34, "bank", "#777777");
    for (std::size_t bank = 0; bank < picture.banks; ++bank) {
      body += in_cell(bank, top + 34, std::to_string(bank), "#777777");
    }
    top += group_head;
    for (std::size_t turn = 0; turn < lane_group.turns.size(); ++turn, top += side)
      body += turn_svg(lane_group, turn, top);
    top += gap;
  }
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" "
      "font-family=\"sans-serif\" font-size=\"11\">\n<rect width=\"{0}\" height=\"{1}\" "
      "fill=\"#ffffff\"/>\n{2}</svg>\n",
      column(picture.banks) + gap, top, body);
}

}  // namespace bankwise
