// SPDX-License-Identifier: MIT
#include <bankwise/banks/layout.hpp>

#include <algorithm>
#include <array>

#include <bankwise/banks/units.hpp>

namespace bankwise::banks {

std::vector<Touch> layout(const Architecture& architecture, const Access& access, const Cost& cost) {
  const Rule* rule = find_rule(architecture, access.operation, access.width);
  std::vector<Touch> touches;
  if (rule != nullptr && rule->serving == Serving::copies) return touches;
  for (unsigned lane_group = 0; rule != nullptr && lane_group < cost.lane_group_count; ++lane_group) {
    const LaneGroupCost& part = cost.lane_groups[lane_group];
    const std::size_t begin = touches.size();
    std::array<std::vector<std::uint64_t>, 64> turns;  // by bank: the keys in order of their first lane
    std::vector<std::uint64_t> words;
    for_each_unit(*rule, access, part.lanes, {part.first_byte, request_bytes(*rule, access.width)},
                  [&](unsigned lane, unsigned bank, std::uint64_t key) {
                    auto& keys = turns[bank];
                    const auto turn = std::find(keys.begin(), keys.end(), key);
                    touches.push_back({lane_group, bank, unsigned(turn - keys.begin()), lane});
                    if (turn == keys.end()) keys.push_back(key);
                    words.push_back(key);
                  });
    if (rule->serving != Serving::one_broadcast) continue;
    const auto steps = best_broadcast_order(words);
    for (std::size_t i = begin; i < touches.size(); ++i) touches[i].turn = steps[i - begin];
  }
  return touches;
}

}  // namespace bankwise::banks
