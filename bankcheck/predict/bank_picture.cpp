// SPDX-License-Identifier: MIT
#include "bankcheck/predict/bank_picture.hpp"

#include <fmt/format.h>

#include <algorithm>

#include <bankwise/banks/layout.hpp>

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

constexpr unsigned label = 9, cell = 4;  // columns

std::string cell_in(const std::vector<unsigned>& lanes, bool collides, bool colour) {
  const bool marked = collides && !lanes.empty();
  std::string inside = fmt::format("{:>{}}", lanes.empty() ? "." : (marked ? "!" : "") + cell_text(lanes), cell);
  if (!colour || (!marked && !lanes.empty())) return inside;
  return fmt::format("\033[{}m{}\033[0m", marked ? "1;31" : "2", inside);
}

/// The banks [first, first + across) of a phase: their numbers, and a line a turn as far as they have any.
std::string band(const PhasePicture& phase, unsigned first, unsigned across, bool colour, unsigned most_turns) {
  const auto idle = [&](const auto& turn) {
    return std::all_of(turn.begin() + first, turn.begin() + first + across, [](auto& lanes) { return lanes.empty(); });
  };
  const auto begin = phase.turns.begin(), end = std::find_if(begin, phase.turns.end(), idle);
  if (begin == end) return fmt::format("  banks {}-{}: nothing to do\n", first, first + across - 1);
  std::string text = fmt::format("  {:<{}}", "bank", label - 2);
  for (unsigned bank = first; bank < first + across; ++bank) text += fmt::format("{:>{}}", bank, cell);
  const auto shown = end - begin > std::ptrdiff_t{most_turns} ? begin + std::ptrdiff_t{most_turns} : end;
  for (auto turn = begin; turn != shown; ++turn) {
    text += fmt::format("\n  {:<{}}", fmt::format("turn {}", turn - begin + 1), label - 2);
    for (unsigned bank = first; bank < first + across; ++bank) {
      text += cell_in((*turn)[bank], collides(phase, bank), colour);
    }
  }
  if (shown != end) text += fmt::format("\n  and {} more turns", end - shown);
  return text + '\n';
}

}  // namespace

bool collides(const PhasePicture& phase, std::size_t bank) {
  return phase.turns.size() > 1 && !phase.turns[1][bank].empty();
}

std::string cell_text(const std::vector<unsigned>& lanes) {
  return fmt::format("{}{}", lanes.front(), lanes.size() > 1 ? "+" : "");
}

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
  const unsigned request = request_bytes(rule, access.width);
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

std::string to_text(const BankPicture& picture, unsigned columns, bool colour, unsigned most_turns) {
  unsigned across = picture.banks;
  while (across > 8 && label + cell * across > columns) across /= 2;
  std::string text;
  for (const PhasePicture& phase : picture.phases) {
    text += '\n' + phase.title + '\n';
    for (unsigned first = 0; first < picture.banks; first += across)
      text += band(phase, first, across, colour, most_turns);
  }
  return text;
}

}  // namespace bankwise
