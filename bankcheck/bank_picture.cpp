// SPDX-License-Identifier: MIT
#include "bank_picture.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "bankwise/banks/layout.hpp"

namespace bankwise {
namespace {

std::string title_of(const banks::Access& access, const banks::PhaseCost& phase, unsigned request_bytes) {
  std::string title = fmt::format("lanes {}", lane_ranges(phase.lanes));
  if (request_bytes < access.width) {
    title += fmt::format(", bytes {}-{} of each", phase.first_byte, phase.first_byte + request_bytes - 1);
  }
  title += fmt::format(": {}", phase.passes);
  if (phase.passes_max != phase.passes) title += fmt::format(" to {}", phase.passes_max);
  return title + (phase.passes_max == 1 ? " pass" : " passes");
}

bool collides(const PhasePicture& phase, std::size_t bank) {
  return phase.turns.size() > 1 && !phase.turns[1][bank].empty();
}

std::string cell_text(const std::vector<unsigned>& lanes) {
  if (lanes.empty()) return ".";
  return fmt::format("{}{}", lanes.front(), lanes.size() > 1 ? "+" : "");
}

}  // namespace

std::string lane_ranges(std::uint64_t lanes) {
  std::string text;
  for (unsigned lane = 0; lane < banks::most_lanes; ++lane) {
    if ((lanes >> lane & 1) == 0) continue;
    unsigned last = lane;
    while (last + 1 < banks::most_lanes && (lanes >> (last + 1) & 1) != 0) ++last;
    text += fmt::format("{}{}", text.empty() ? "" : ", ", lane);
    if (last != lane) text += fmt::format("-{}", last);
    lane = last;
  }
  return text;
}

BankPicture picture(const banks::Architecture& architecture, const banks::Access& access, const banks::Cost& cost) {
  const banks::Rule& rule = *banks::find_rule(architecture, access.operation, access.width);
  BankPicture result{rule.banks.count, {}};
  const unsigned request = rule.request_bytes == 0 ? access.width : std::min(rule.request_bytes, access.width);
  for (unsigned i = 0; i < cost.phase_count; ++i) {
    result.phases.push_back({title_of(access, cost.phases[i], request), {}});
  }
  for (const auto& touch : banks::layout(architecture, access, cost)) {
    auto& turns = result.phases[touch.phase].turns;
    if (turns.size() <= touch.turn) {
      turns.resize(touch.turn + 1, std::vector<std::vector<unsigned>>(result.banks));
    }
    turns[touch.turn][touch.bank].push_back(touch.lane);
  }
  return result;
}

std::string to_text(const BankPicture& picture, unsigned columns, bool colour) {
  constexpr unsigned label = 9, cell = 4;
  unsigned across = picture.banks;
  while (across > 8 && label + cell * across > columns) across /= 2;
  const auto cell_in = [&](const std::vector<unsigned>& lanes, bool collides) {
    const bool marked = collides && !lanes.empty();
    const std::string inside = fmt::format("{:>{}}", (marked ? "!" : "") + cell_text(lanes), cell);
    if (!colour || (!marked && !lanes.empty())) return inside;
    return fmt::format("\033[{}m{}\033[0m", marked ? "1;31" : "2", inside);
  };
  std::string text;
  for (const PhasePicture& phase : picture.phases) {
    text += '\n' + phase.title + '\n';
    for (unsigned first = 0; first < picture.banks; first += across) {
      const auto begin = phase.turns.begin();
      const auto rows = std::find_if(begin, phase.turns.end(), [&](const auto& turn) {
        return std::all_of(turn.begin() + first, turn.begin() + first + across,
                           [](auto& lanes) { return lanes.empty(); });
      });
      if (rows == begin) {
        text += fmt::format("  banks {}-{}: nothing to do\n", first, first + across - 1);
        continue;
      }
      text += fmt::format("  {:<{}}", "bank", label - 2);
      for (unsigned bank = first; bank < first + across; ++bank) text += fmt::format("{:>{}}", bank, cell);
      text += '\n';
      for (auto turn = begin; turn != rows; ++turn) {
        text += fmt::format("  {:<{}}", fmt::format("turn {}", turn - begin + 1), label - 2);
        for (unsigned bank = first; bank < first + across; ++bank)
          text += cell_in((*turn)[bank], collides(phase, bank));
        text += '\n';
      }
    }
  }
  return text;
}

std::string to_svg(const BankPicture& picture, const std::string& title) {
  constexpr int side = 26, left = 64, head = 40, gap = 52;
  int height = head;
  for (const auto& phase : picture.phases) height += gap + side * int(phase.turns.size());
  const int width = left + side * int(picture.banks) + 12;
  const auto escaped = [](const std::string& text) {
    std::string safe;
    for (const char c : text) safe += c == '<' ? "&lt;" : c == '&' ? "&amp;" : c == '>' ? "&gt;" : std::string(1, c);
    return safe;
  };
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" "
      "font-family=\"sans-serif\" font-size=\"11\">\n<rect width=\"{0}\" height=\"{1}\" fill=\"#ffffff\"/>\n"
      "<text x=\"12\" y=\"24\" font-size=\"14\" fill=\"#222222\">{2}</text>\n",
      width, height, escaped(title));
  const auto centred = [&](int x, int y, const std::string& text, const char* fill) {
    svg += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\" fill=\"{}\">{}</text>\n", x, y, fill, text);
  };
  int top = head;
  for (const auto& phase : picture.phases) {
    svg += fmt::format("<text x=\"12\" y=\"{}\" fill=\"#222222\">{}</text>\n", top + 14, escaped(phase.title));
    svg += fmt::format("<text x=\"12\" y=\"{}\" fill=\"#777777\">bank</text>\n", top + 34);
    for (unsigned bank = 0; bank < picture.banks; ++bank) {
      centred(left + side * int(bank) + side / 2, top + 34, std::to_string(bank), "#777777");
    }
    top += gap - 12;
    for (std::size_t turn = 0; turn < phase.turns.size(); ++turn, top += side) {
      svg += fmt::format("<text x=\"12\" y=\"{}\" fill=\"#777777\">turn {}</text>\n", top + 17, turn + 1);
      for (unsigned bank = 0; bank < picture.banks; ++bank) {
        const auto& lanes = phase.turns[turn][bank];
        const char* fill = lanes.empty() ? "#f4f4f4" : collides(phase, bank) ? "#f2b8b0" : "#bcd9f0";
        const int x = left + side * int(bank);
        svg += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\" stroke=\"#ffffff\"/>\n", x,
                           top, side, side, fill);
        if (!lanes.empty()) centred(x + side / 2, top + 17, cell_text(lanes), "#222222");
      }
    }
    top += 12;
  }
  return svg + "</svg>\n";
}

}  // namespace bankwise
