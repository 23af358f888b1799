// cp.async, of the second model.
#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <tuple>

#include "slow_banks.hpp"

namespace bankwise::slow {

bool writes_zeros(const Lane& lane) { return lane.source == 0xffffffff; }

Steps max_met(const Lanes& lanes, unsigned width) {
  unsigned most = 0;
  for (const Lane& lane : lanes) {
    unsigned met = 0;
    for (const Lane& other : lanes) {
      const bool same_source =
          !writes_zeros(lane) && !writes_zeros(other) && lane.source % 128 / width == other.source % 128 / width;
      const bool same_destination = lane.byte % 128 / width == other.byte % 128 / width;
      met += same_source || same_destination ? 1 : 0;
    }
    most = std::max(most, met);
  }
  return {most, most};
}

SlowCost past_l1(const Lanes& all) {
  Lanes lanes;
  std::copy_if(all.begin(), all.end(), std::back_inserter(lanes), std::not_fn(writes_zeros));
  std::map<std::uint64_t, std::uint64_t> source_of;  // by slot of 16 bytes in shared memory: the first lane's
  std::vector<std::uint64_t> slots;                  // in the order of their lanes
  for (const Lane& lane : lanes) {
    if (source_of.try_emplace(lane.byte / 16, lane.source / 16).second) slots.push_back(lane.byte / 16);
  }
  // The slots that later lanes copy from the same place to the same line, to the same side of a sector or not.
  std::map<std::tuple<std::uint64_t, std::uint64_t, bool>, unsigned> later;
  // The sides of a sector that move, by turn, sectors, and whether sides change.
  std::map<std::tuple<unsigned, std::uint64_t, std::uint64_t, bool>, std::set<unsigned>> sides;
  for (auto slot = slots.rbegin(); slot != slots.rend(); ++slot) {
    const std::uint64_t from = source_of.at(*slot);
    const bool changes_side = from % 2 != *slot % 2;
    sides[{later[{from, *slot / 8, changes_side}]++, from / 2, *slot / 2, changes_side}].insert(unsigned(from % 2));
  }
  std::set<std::tuple<unsigned, std::uint64_t, std::uint64_t, bool, bool, std::set<unsigned>>> passes;
  for (const auto& [move, moved] : sides) {
    const auto& [turn, from, to, changes_side] = move;
    passes.insert({turn, from / 4, to / 4, changes_side, from % 2 != to % 2, moved});
  }
  SlowCost cost;
  cost.passes = cost.passes_max = unsigned(passes.size());
  cost.ideal = unsigned(slots.size() + 7) / 8;
  cost.floor = 1;
  if (lanes.size() == all.size()) return cost;
  std::map<unsigned, Lanes> groups;  // of 8 lanes: zeros, and places for the rest
  for (const Lane& lane : all) groups[lane.number / 8].push_back({lane.number, lane.byte, 0xffffffff});
  for (const auto& [number, group] : groups) {
    cost.passes += max_met(group, 16).most;
    cost.ideal += 1;
  }
  cost.passes_max = cost.passes;
  return cost;
}

}  // namespace bankwise::slow
