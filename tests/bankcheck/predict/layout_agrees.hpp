// A layout explains a cost, so it must add up to it.
#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <bankwise/banks/cost.hpp>

namespace bankwise::banks {

/// What lanes that share a pass of a bank must have in common.
inline std::uint64_t delivered(const Rule& rule, const Access& access, const LaneGroupCost& lane_group,
                               const Touch& touch) {
  const std::uint64_t begin = std::uint64_t{access.addresses[touch.lane]} + lane_group.first_byte;
  std::uint64_t unit = begin / rule.banks.bytes;
  while (unit % rule.banks.count != touch.bank) ++unit;
  const std::uint64_t keys[]{unit * rule.banks.bytes / rule.banks.row_bytes, touch.lane, begin, unit};
  return keys[int(rule.serving)];
}

/// The touches of one lane group, by pass and bank.
using TouchesByPass = std::map<std::pair<unsigned, unsigned>, std::vector<Touch>>;

/// Empty if the touches of one lane group match its lanes and its passes.
inline std::string wrong_in_group(const Rule& rule, const Access& access, const LaneGroupCost& lane_group,
                                  const TouchesByPass& passes) {
  std::uint64_t seen = 0;
  unsigned last = 0;
  std::map<unsigned, unsigned> shared;  // banks that serve several lanes, by pass
  for (const auto& [key, touches] : passes) {
    const auto [pass, bank] = key;
    last = std::max(last, pass);
    std::set<std::uint64_t> things;
    for (const Touch& touch : touches) {
      seen |= std::uint64_t{1} << touch.lane;
      things.insert(delivered(rule, access, lane_group, touch));
    }
    if (things.size() > 1) return "bank " + std::to_string(bank) + " delivers two words in one pass";
    shared[pass] += touches.size() > 1 ? 1 : 0;
    if (pass > 0 && !passes.contains({pass - 1, bank})) return "a bank is idle between two passes";
  }
  if (seen != lane_group.lanes) return "the lanes are not those of the lane group";
  if (last + 1 != lane_group.passes / rule.rounds) return "the touches do not match the passes";
  const auto broadcasts = [](const auto& banks) { return banks.second > 1; };
  if (rule.serving == Serving::one_broadcast && std::any_of(shared.begin(), shared.end(), broadcasts)) {
    return "two broadcasts in one step";
  }
  return "";
}

/// Empty if the layout explains the cost; otherwise the first error.
inline std::string what_is_wrong(const Architecture& architecture, const Access& access, const Cost& cost,
                                 const std::vector<Touch>& layout) {
  const Rule* rule = find_rule(architecture, access.operation, access.width);
  if (rule == nullptr) return "there is no rule";
  if (is_copy(access.operation)) return layout.empty() ? "" : "a copy has a layout";
  std::vector<TouchesByPass> lane_groups(cost.lane_group_count);
  for (const Touch& touch : layout) {
    if (touch.lane_group >= cost.lane_group_count) return "there is no such lane group";
    if (touch.bank >= rule->banks.count) return "there is no such bank";
    lane_groups[touch.lane_group][{touch.turn, touch.bank}].push_back(touch);
  }
  std::uint64_t lanes = 0;
  for (unsigned i = 0; i < cost.lane_group_count; ++i) {
    lanes |= cost.lane_groups[i].lanes;
    const std::string wrong = wrong_in_group(*rule, access, cost.lane_groups[i], lane_groups[i]);
    if (!wrong.empty()) return "lane group " + std::to_string(i) + ": " + wrong;
  }
  const unsigned rows = matrix_rows(access.operation);
  const std::uint64_t wanted = rows == 0 ? access.mask : (std::uint64_t{1} << rows) - 1;
  return lanes == (access.mask == 0 ? 0 : wanted) ? "" : "not every active lane is served";
}

}  // namespace bankwise::banks
