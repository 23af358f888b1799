// SPDX-License-Identifier: MIT
//
// A layout is an explanation of a cost, so it has to add up to it.
#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <bankwise/banks/layout.hpp>

namespace bankwise::banks {

/// What lanes of one turn of a bank must have in common, whatever else they do.
inline std::uint64_t delivered(const Rule& rule, const Access& access, const PhaseCost& phase, const Touch& touch) {
  const std::uint64_t begin = std::uint64_t{access.addresses[touch.lane]} + phase.first_byte;
  std::uint64_t unit = begin / rule.banks.bytes;
  while (unit % rule.banks.count != touch.bank) ++unit;
  const std::uint64_t keys[]{unit * rule.banks.bytes / rule.banks.row_bytes, touch.lane, begin, unit};
  return keys[int(rule.serving)];
}

/// The touches of one phase, by turn and bank.
using Turns = std::map<std::pair<unsigned, unsigned>, std::vector<Touch>>;

/// Empty if the turns of one phase are what its lanes and its passes say.
inline std::string wrong_in_phase(const Rule& rule, const Access& access, const PhaseCost& phase, const Turns& turns) {
  std::uint64_t seen = 0;
  unsigned last = 0;
  std::map<unsigned, unsigned> shared;  // banks that serve several lanes, by turn
  for (const auto& [key, touches] : turns) {
    const auto [turn, bank] = key;
    last = std::max(last, turn);
    std::set<std::uint64_t> things;
    for (const Touch& touch : touches) {
      seen |= std::uint64_t{1} << touch.lane;
      things.insert(delivered(rule, access, phase, touch));
    }
    if (things.size() > 1) return "bank " + std::to_string(bank) + " delivers two things in one turn";
    shared[turn] += touches.size() > 1 ? 1 : 0;
    if (turn > 0 && !turns.contains({turn - 1, bank})) return "a bank rests between two turns";
  }
  if (seen != phase.lanes) return "the lanes are not those of the phase";
  if (last + 1 != phase.passes / rule.rounds) return "the turns are not the passes";
  const auto broadcasts = [](const auto& banks) { return banks.second > 1; };
  if (rule.serving == Serving::one_broadcast && std::any_of(shared.begin(), shared.end(), broadcasts)) {
    return "two broadcasts in one step";
  }
  return "";
}

/// Empty if the layout explains the cost: what is wrong with it otherwise.
inline std::string what_is_wrong(const Architecture& architecture, const Access& access, const Cost& cost,
                                 const std::vector<Touch>& layout) {
  const Rule* rule = find_rule(architecture, access.operation, access.width);
  if (rule == nullptr) return "there is no rule";
  std::vector<Turns> phases(cost.phase_count);
  for (const Touch& touch : layout) {
    if (touch.phase >= cost.phase_count) return "there is no such phase";
    if (touch.bank >= rule->banks.count) return "there is no such bank";
    phases[touch.phase][{touch.turn, touch.bank}].push_back(touch);
  }
  std::uint64_t lanes = 0;
  for (unsigned i = 0; i < cost.phase_count; ++i) {
    lanes |= cost.phases[i].lanes;
    const std::string wrong = wrong_in_phase(*rule, access, cost.phases[i], phases[i]);
    if (!wrong.empty()) return "phase " + std::to_string(i) + ": " + wrong;
  }
  const unsigned rows = matrix_rows(access.operation);
  const std::uint64_t wanted = rows == 0 ? access.mask : (std::uint64_t{1} << rows) - 1;
  return lanes == (access.mask == 0 ? 0 : wanted) ? "" : "not every active lane is served";
}

}  // namespace bankwise::banks
