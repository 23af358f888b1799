#include "bankcheck/predict/predict.hpp"

#include <fmt/format.h>

#include <algorithm>

#include <bankwise/support/table.hpp>
#include <bankwise/support/text.hpp>

namespace bankwise::predict {
namespace {

std::string title_of(const banks::Access& access, const banks::LaneGroupCost& lane_group, unsigned request_bytes) {
  std::string title = fmt::format("lanes {}", lane_ranges(lane_group.lanes));
  if (request_bytes < access.width) {
    title += fmt::format(", bytes {}-{} of each", lane_group.first_byte, lane_group.first_byte + request_bytes - 1);
  }
  title += fmt::format(": {}", lane_group.passes);
  if (lane_group.passes_max != lane_group.passes) title += fmt::format(" to {}", lane_group.passes_max);
  return title + (lane_group.passes_max == 1 ? " pass" : " passes");
}

constexpr unsigned label = 9;  // columns

std::string mark(const std::vector<unsigned>& lanes, bool collides) {
  return lanes.empty() ? "." : (collides ? "!" : "") + cell_text(lanes);
}

/// Columns of a cell: the marks that are shown do not touch their neighbours.
unsigned cell_width(const BankPicture& picture, unsigned max_turns) {
  std::size_t widest = 3;
  for (const LaneGroupPicture& lane_group : picture.lane_groups) {
    for (std::size_t turn = 0; turn < std::min<std::size_t>(lane_group.turns.size(), max_turns); ++turn) {
      for (std::size_t bank = 0; bank < picture.banks; ++bank)
        widest = std::max(widest, mark(lane_group.turns[turn][bank], collides(lane_group, bank)).size());
    }
  }
  return unsigned(widest) + 1;
}

/// Whether a row has no lane in the banks [first, first + across).
bool is_idle(const std::vector<std::vector<unsigned>>& turn, unsigned first, unsigned across) {
  return std::all_of(turn.begin() + first, turn.begin() + first + across, [](auto& lanes) { return lanes.empty(); });
}

/// The banks [first, first + across) of a lane group: a line with their numbers, and one line per pass until all of
/// them are idle.
std::string band(const LaneGroupPicture& lane_group, unsigned first, unsigned across, unsigned max_turns,
                 unsigned cell) {
  const auto idle = [&](const auto& turn) { return is_idle(turn, first, across); };
  const auto begin = lane_group.turns.begin(), end = std::find_if(begin, lane_group.turns.end(), idle);
  std::string text = fmt::format("  {:<{}}", "bank", label - 2);
  for (unsigned bank = first; bank < first + across; ++bank) text += fmt::format("{:>{}}", bank, cell);
  const auto rows = std::size_t(end - begin), shown = std::min<std::size_t>(rows, max_turns);
  for (std::size_t turn = 0; turn < shown; ++turn) {
    text += fmt::format("\n  {:<{}}", pass_label(lane_group, turn), label - 2);
    for (unsigned bank = first; bank < first + across; ++bank) {
      text += fmt::format("{:>{}}", mark(begin[std::ptrdiff_t(turn)][bank], collides(lane_group, bank)), cell);
    }
  }
  if (shown < rows) {
    text += "\n  and " + support::plural((rows - shown) * lane_group.passes_per_turn, "more pass", "more passes");
  }
  return text + '\n';
}

// --- As SVG ---

constexpr int side = 26, left = 64, head = 40, group_head = 40, gap = 12;  // pixels

int column(std::size_t bank) { return left + side * int(bank); }

std::string text_at(int x, int y, const std::string& text, const char* fill, const char* anchor = "") {
  return fmt::format("<text x=\"{}\" y=\"{}\"{} fill=\"{}\">{}</text>\n", x, y, anchor, fill, support::xml_text(text));
}

std::string in_cell(std::size_t bank, int y, const std::string& text, const char* fill) {
  return text_at(column(bank) + side / 2, y, text, fill, " text-anchor=\"middle\"");
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

std::string pass_label(const LaneGroupPicture& lane_group, std::size_t turn) {
  return fmt::format("pass {}", turn * lane_group.passes_per_turn + 1);
}

bool collides(const LaneGroupPicture& lane_group, std::size_t bank) {
  return lane_group.turns.size() > 1 && !lane_group.turns[1][bank].empty();
}

std::string cell_text(const std::vector<unsigned>& lanes) {
  return fmt::format("{}{}", lanes.front(), lanes.size() > 1 ? "+" : "");
}

std::string lane_ranges(std::uint64_t lanes) {
  std::string text;
  for (unsigned lane = 0; lane < banks::max_lanes; ++lane) {
    if ((lanes >> lane & 1) == 0) continue;
    unsigned last = lane;
    while (last + 1 < banks::max_lanes && (lanes >> (last + 1) & 1) != 0) ++last;
    text += fmt::format("{}{}", text.empty() ? "" : ", ", lane);
    if (last != lane) text += fmt::format("-{}", last);
    lane = last;
  }
  return text;
}

BankPicture picture(const banks::Architecture& architecture, const banks::Access& access, const banks::Cost& cost) {
  const banks::Rule& rule = *banks::find_rule(architecture, access.operation, access.width);
  BankPicture result{rule.banks.count, {}};
  if (banks::is_copy(access.operation)) return result;
  const unsigned request = request_bytes(rule, access.width);
  for (unsigned i = 0; i < cost.lane_group_count; ++i) {
    result.lane_groups.push_back({title_of(access, cost.lane_groups[i], request), rule.rounds, {}});
  }
  for (const auto& touch : banks::layout(architecture, access, cost)) {
    auto& turns = result.lane_groups[touch.lane_group].turns;
    if (turns.size() <= touch.turn) {
      turns.resize(touch.turn + 1, std::vector<std::vector<unsigned>>(result.banks));
    }
    turns[touch.turn][touch.bank].push_back(touch.lane);
  }
  return result;
}

std::string to_text(const BankPicture& picture, unsigned columns, unsigned max_turns) {
  const unsigned cell = cell_width(picture, max_turns);
  unsigned across = picture.banks;
  while (across > 8 && label + cell * across > columns) across /= 2;
  std::string text;
  for (const LaneGroupPicture& lane_group : picture.lane_groups) {
    text += '\n' + lane_group.title + '\n';
    for (unsigned first = 0; first < picture.banks; first += across) {
      const unsigned idle = first;
      const auto& turns = lane_group.turns;
      while (first < picture.banks && (turns.empty() || is_idle(turns[0], first, across))) first += across;
      if (first > idle) text += fmt::format("  banks {}-{}: idle\n", idle, first - 1);
      if (first < picture.banks) text += band(lane_group, first, across, max_turns, cell);
    }
  }
  return text;
}

std::string coloured(std::string_view text) {
  constexpr std::string_view row = "  pass ";
  std::string result;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, std::min(text.find('\n'), text.size() - 1) + 1);
    text.remove_prefix(line.size());
    const std::size_t first =
        line.starts_with(row) ? std::max<std::size_t>(label, line.find(' ', row.size())) : line.size();
    result += line.substr(0, first);
    for (std::size_t at = first, end = 0; at < line.size(); at = end) {  // blanks and a mark, or the end of the line
      const std::size_t mark = std::min(line.find_first_not_of(" \n", at), line.size());
      end = std::min(line.find_first_of(" \n", mark), line.size());
      const std::string_view inside = line.substr(mark, end - mark);
      const char* colour = inside.starts_with('!') ? "1;31" : inside == "." ? "2" : nullptr;
      result += line.substr(at, mark - at);
      result += colour == nullptr ? std::string(inside) : support::painted(inside, colour);
    }
  }
  return result;
}

std::string to_svg(const BankPicture& picture, const std::string& title) {
  std::string body =
      fmt::format("<text x=\"12\" y=\"24\" font-size=\"14\" fill=\"#222222\">{}</text>\n", support::xml_text(title));
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

}  // namespace bankwise::predict
