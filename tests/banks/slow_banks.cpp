#include "slow_banks.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>

namespace bankwise::slow {
namespace {

using banks::Operation;

const LaneGroups warp = lane_groups("0-31");
const LaneGroups halves = lane_groups("0-15 16-31");
const LaneGroups quarters = lane_groups("0-7 8-15 16-23 24-31");
const LaneGroups rdna3_read_b128 = lane_groups("0-3,20-23 4-7,16-19 8-11,28-31 12-15,24-27");
const LaneGroups wave_halves = lane_groups("0-31 32-63");
const LaneGroups wave_quarters = lane_groups("0-15 16-31 32-47 48-63");
const LaneGroups wave_eighths = lane_groups("0-7 8-15 16-23 24-31 32-39 40-47 48-55 56-63");
const LaneGroups cdna_read_b128 =
    lane_groups("0-3,20-23 32-35,52-55 4-7,16-19 36-39,48-51 8-11,28-31 40-43,60-63 12-15,24-27 44-47,56-59");
const LaneGroups gfx950_read_b128 =
    lane_groups("0-3,12-15,20-23,24-27 4-7,8-11,16-19,28-31 32-35,44-47,52-55,56-59 36-39,40-43,48-51,60-63");

// The steps of one lane group: the most that any one bank has to deliver.

template <class Things>
Steps busiest(const std::map<std::uint64_t, Things>& of_bank) {
  std::size_t most = 0;
  for (const auto& [bank, things] : of_bank) most = std::max(most, things.size());
  return {unsigned(most), unsigned(most)};
}

/// Distinct words. An access smaller than a word touches the one that contains it.
Steps distinct_words(const Lanes& lanes, unsigned width, unsigned banks, unsigned bytes_per_word = 4) {
  std::map<std::uint64_t, std::set<std::uint64_t>> words;
  for (const Lane& lane : lanes) {
    const std::uint64_t first = lane.byte / bytes_per_word, last = (lane.byte + width - 1) / bytes_per_word;
    for (std::uint64_t word = first; word <= last; ++word) words[word % banks].insert(word);
  }
  return busiest(words);
}

/// Compute capability 3.x, four-byte mode: the words j and j + 32 of an aligned segment of 64 are served together.
Steps distinct_segments(const Lanes& lanes, unsigned width) {
  std::map<std::uint64_t, std::set<std::uint64_t>> segments;
  for (const Lane& lane : lanes) {
    for (std::uint64_t word = lane.byte / 4; word <= (lane.byte + width - 1) / 4; ++word) {
      segments[word % 32].insert(word / 64);
    }
  }
  return busiest(segments);
}

/// Lanes queue at their bank, whatever address they access.
Steps queue(const Lanes& lanes, unsigned banks) {
  std::map<std::uint64_t, std::vector<unsigned>> waiting;
  for (const Lane& lane : lanes) waiting[lane.byte / 4 % banks].push_back(lane.number);
  return busiest(waiting);
}

/// Stores of compute capability 1.x: one lane writes for all with the same address; the others take a step each.
Steps distinct_addresses(const Lanes& lanes) {
  std::map<std::uint64_t, std::set<std::uint64_t>> addresses;
  for (const Lane& lane : lanes) addresses[lane.byte / 4 % 16].insert(lane.byte);
  return busiest(addresses);
}

/// Loads of compute capability 1.x.
Steps one_broadcast(const Lanes& lanes) {
  std::map<std::uint64_t, std::map<std::uint64_t, unsigned>> waiting;
  for (const Lane& lane : lanes) ++waiting[lane.byte / 4 % 16][lane.byte / 4];
  HalfWarp half_warp;
  for (const auto& [bank, words] : waiting) {
    half_warp.emplace_back();
    for (const auto& [word, count] : words) half_warp.back().push_back(count);
  }
  return steps(half_warp);
}

// The steps of an access.

using LaneGroupRule = std::function<Steps(const Lanes&)>;

SlowCost refused() {
  SlowCost cost;
  cost.refused = true;
  return cost;
}

SlowCost sum(const SlowCost& a, const SlowCost& b) {
  SlowCost both;
  both.passes = a.passes + b.passes;
  both.passes_max = a.passes_max + b.passes_max;
  both.ideal = a.ideal + b.ideal;
  both.floor = a.floor + b.floor;
  both.refused = a.refused || b.refused;
  return both;
}

Lanes those_in(const std::set<unsigned>& lane_group, const Lanes& lanes) {
  Lanes result;
  for (const Lane& lane : lanes) {
    if (lane_group.contains(lane.number)) result.push_back(lane);
  }
  return result;
}

/// Lane group after lane group; one without an active lane costs nothing.
SlowCost in_lane_groups(const LaneGroups& list, const Lanes& lanes, const LaneGroupRule& rule) {
  SlowCost cost;
  for (const auto& lane_group : list) {
    cost.floor += 1;
    const Lanes active = those_in(lane_group, lanes);
    if (active.empty()) continue;
    const Steps taken = rule(active);
    cost.passes += taken.least;
    cost.passes_max += taken.most;
    cost.ideal += 1;
  }
  return cost;
}

/// Several instructions of `piece` bytes in place of a wide one.
SlowCost in_pieces(unsigned width, unsigned piece, const Lanes& lanes,
                   const std::function<SlowCost(const Lanes&)>& cost_of_piece) {
  SlowCost cost;
  for (unsigned first = 0; first < width; first += piece) {
    Lanes moved = lanes;
    for (Lane& lane : moved) lane.byte += first;
    cost = sum(cost, cost_of_piece(moved));
  }
  return cost;
}

/// Compute capability 2.x counts ways: the worst lane group, not the sum.
SlowCost in_ways(const LaneGroups& list, unsigned more, const Lanes& lanes, const LaneGroupRule& rule) {
  SlowCost cost;
  for (const auto& lane_group : list) cost.passes = std::max(cost.passes, rule(those_in(lane_group, lanes)).least);
  cost.passes += more;
  cost.passes_max = cost.passes;
  cost.ideal = 1;
  cost.floor = unsigned(list.size());
  return cost;
}

/// P1 and P2: the lanes n and n xor `distance` have the same address wherever both are active.
bool partners_agree(const Lanes& lanes, unsigned distance) {
  for (const Lane& a : lanes) {
    for (const Lane& b : lanes) {
      if ((a.number ^ distance) == b.number && a.byte != b.byte) return false;
    }
  }
  return true;
}

/// Rows of eight-by-eight matrices.
const std::map<Operation, unsigned> load_matrix{
    {Operation::ldmatrix_x1, 8}, {Operation::ldmatrix_x2, 16}, {Operation::ldmatrix_x4, 32}};
const std::map<Operation, unsigned> store_matrix{
    {Operation::stmatrix_x1, 8}, {Operation::stmatrix_x2, 16}, {Operation::stmatrix_x4, 32}};

bool matrix(Operation operation) { return load_matrix.contains(operation) || store_matrix.contains(operation); }
bool plain(Operation operation) { return operation == Operation::load || operation == Operation::store; }
bool copy(Operation operation) { return operation == Operation::cp_async || operation == Operation::cp_async_cg; }
bool atomic(Operation operation) {
  return operation == Operation::atomic || operation == Operation::atomic_inc || operation == Operation::atomic_cas;
}
bool known(Operation operation) { return plain(operation) || atomic(operation); }

/// Lanes that give the address of a row.
unsigned rows_of(Operation operation) {
  if (!matrix(operation)) return 0;
  return load_matrix.contains(operation) ? load_matrix.at(operation) : store_matrix.at(operation);
}

// Architectures.

SlowCost compute_1(Operation operation, unsigned width, const Lanes& lanes) {
  if (!plain(operation)) return refused();
  return in_pieces(width, std::min(width, 4U), lanes, [&](const Lanes& piece) {
    return in_lane_groups(halves, piece, operation == Operation::load ? one_broadcast : distinct_addresses);
  });
}

SlowCost compute_2(Operation operation, unsigned width, const Lanes& lanes) {
  if (!plain(operation)) return refused();
  if (width == 12) {
    return in_pieces(12, 4, lanes, [&](const Lanes& piece) { return compute_2(operation, 4, piece); });
  }
  const LaneGroupRule rule = [&](const Lanes& lane_group) { return distinct_words(lane_group, width, 32); };
  if (width == 16) return in_ways(quarters, 1, lanes, rule);
  return in_ways(width == 8 ? halves : warp, 0, lanes, rule);
}

SlowCost compute_3(bool eight_bytes, Operation operation, unsigned width, const Lanes& lanes) {
  if (!plain(operation)) return refused();
  if (width == 12) {
    return in_pieces(12, 4, lanes, [&](const Lanes& piece) { return compute_3(eight_bytes, operation, 4, piece); });
  }
  return in_lane_groups(width == 16 ? halves : warp, lanes, [&](const Lanes& lane_group) {
    return eight_bytes ? distinct_words(lane_group, width, 32, 8) : distinct_segments(lane_group, width);
  });
}

SlowCost compute_5(Operation operation, unsigned width, const Lanes& lanes) {
  if (!known(operation)) return refused();
  if (atomic(operation) && width != 4 && (width != 8 || operation == Operation::atomic_inc)) return refused();
  if (operation == Operation::atomic || operation == Operation::atomic_cas) {
    const SlowCost once = in_lane_groups(width == 8 ? halves : warp, lanes,
                                         [](const Lanes& lane_group) { return queue(lane_group, 32); });
    if (operation == Operation::atomic) return once;
    SlowCost twice = sum(once, once);
    twice.floor = once.floor;
    return twice;
  }
  if (width == 12) {
    return in_pieces(12, 4, lanes, [&](const Lanes& piece) { return compute_5(operation, 4, piece); });
  }
  const LaneGroupRule rule = [&](const Lanes& lane_group) { return distinct_words(lane_group, width, 32); };
  const bool merges = operation == Operation::load && (partners_agree(lanes, 1) || partners_agree(lanes, 2));
  if (width == 16) return in_lane_groups(merges ? halves : quarters, lanes, rule);
  if (width == 8) return in_lane_groups(merges ? warp : halves, lanes, rule);
  return in_lane_groups(warp, lanes, rule);
}

/// Eight rows a lane group. `lanes` are those that give a row's address.
SlowCost matrices(unsigned width, const Lanes& lanes) {
  if (width != 16) return refused();
  LaneGroups rows = quarters;
  rows.resize((lanes.size() + 7) / 8);
  return in_lane_groups(rows, lanes, [](const Lanes& lane_group) { return distinct_words(lane_group, 16, 32); });
}

SlowCost compute_7_5(Operation operation, unsigned width, const Lanes& lanes) {
  return load_matrix.contains(operation) ? matrices(width, lanes) : compute_5(operation, width, lanes);
}

SlowCost compute_8(Operation operation, unsigned width, const Lanes& lanes) {
  if (!copy(operation)) return compute_7_5(operation, width, lanes);
  if (operation == Operation::cp_async_cg) return width == 16 ? past_l1(lanes) : refused();
  if (width != 4 && width != 8 && width != 16) return refused();
  return in_lane_groups(width == 4   ? warp
                        : width == 8 ? halves
                                     : quarters,
                        lanes, [&](const Lanes& lane_group) { return max_met(lane_group, width); });
}

SlowCost compute_9(Operation operation, unsigned width, const Lanes& lanes) {
  return store_matrix.contains(operation) ? matrices(width, lanes) : compute_8(operation, width, lanes);
}

SlowCost amd_atomic(const LaneGroups& list, Operation operation, unsigned width, const Lanes& lanes) {
  if (operation == Operation::atomic_cas || width != 4) return refused();
  return in_lane_groups(list, lanes, [](const Lanes& lane_group) { return queue(lane_group, 32); });
}

SlowCost hd5870(Operation operation, unsigned width, const Lanes& lanes) {
  if (!known(operation) || width == 12) return refused();
  if (atomic(operation)) return amd_atomic(wave_halves, operation, width, lanes);
  const unsigned piece = std::min(width, operation == Operation::load ? 8U : 4U);
  return in_pieces(width, piece, lanes, [&](const Lanes& part) {
    return in_lane_groups(piece == 8 ? wave_quarters : wave_halves, part,
                          [&](const Lanes& lane_group) { return distinct_words(lane_group, piece, 32); });
  });
}

SlowCost gcn(Operation operation, unsigned width, const Lanes& lanes) {
  if (!known(operation)) return refused();
  if (atomic(operation)) return amd_atomic(wave_halves, operation, width, lanes);
  const LaneGroups& widest = operation == Operation::load ? cdna_read_b128 : wave_eighths;
  const LaneGroups& list = width <= 4 ? wave_halves : width == 8 ? wave_quarters : widest;
  return in_lane_groups(list, lanes, [&](const Lanes& lane_group) { return distinct_words(lane_group, width, 32); });
}

SlowCost gfx950(Operation operation, unsigned width, const Lanes& lanes) {
  if (operation != Operation::load || (width != 8 && width != 16)) return gcn(operation, width, lanes);
  return in_lane_groups(width == 8 ? wave_halves : gfx950_read_b128, lanes,
                        [&](const Lanes& lane_group) { return distinct_words(lane_group, width, 64); });
}

SlowCost rdna_wave32(const LaneGroups& read_b128, Operation operation, unsigned width, const Lanes& lanes) {
  if (!known(operation)) return refused();
  if (atomic(operation)) return amd_atomic(warp, operation, width, lanes);
  const LaneGroups& widest = operation == Operation::load ? read_b128 : quarters;
  const LaneGroups& list = width <= 4 ? warp : width == 8 ? halves : widest;
  return in_lane_groups(list, lanes, [&](const Lanes& lane_group) { return distinct_words(lane_group, width, 32); });
}

/// A wave64 is two wave32, one after the other. Without a lane beyond 31 it is a wave32.
SlowCost rdna(const LaneGroups& read_b128, Operation operation, unsigned width, const Lanes& lanes) {
  Lanes low, high;
  for (const Lane& lane : lanes) {
    if (lane.number < 32) low.push_back(lane);
    if (lane.number >= 32) high.push_back({lane.number - 32, lane.byte, 0});
  }
  const SlowCost first = rdna_wave32(read_b128, operation, width, low);
  return high.empty() ? first : sum(first, rdna_wave32(read_b128, operation, width, high));
}

SlowCost gfx1250(Operation operation, unsigned width, const Lanes& lanes) {
  if (!known(operation)) return refused();
  if (atomic(operation)) return amd_atomic(warp, operation, width, lanes);
  if (width > 4 && operation == Operation::store) return refused();
  return in_lane_groups(width <= 8 ? warp : halves, lanes, [&](const Lanes& lane_group) {
    return distinct_words(lane_group, width, width <= 4 ? 32 : 64);
  });
}

SlowCost intel(Operation operation, unsigned width, const Lanes& lanes) {
  if (!plain(operation) || width > 4) return refused();
  return in_lane_groups(halves, lanes, [&](const Lanes& lane_group) {
    return operation == Operation::load ? distinct_words(lane_group, width, 16) : queue(lane_group, 16);
  });
}

/// Nothing if the operation needs a source and the lane has none.
std::optional<std::uint64_t> source_of(Operation operation, const std::vector<std::uint32_t>& sources, unsigned lane) {
  if (!copy(operation)) return 0;
  return lane < sources.size() ? std::optional<std::uint64_t>(sources[lane]) : std::nullopt;
}

struct Architecture {
  unsigned lanes;
  std::function<SlowCost(Operation, unsigned, const Lanes&)> cost;
};

const std::map<std::string_view, Architecture> architectures{
    {"sm_13", {32, compute_1}},
    {"sm_20", {32, compute_2}},
    {"sm_30", {32, std::bind_front(compute_3, false)}},
    {"sm_30_eight_byte", {32, std::bind_front(compute_3, true)}},
    {"sm_50", {32, compute_5}},
    {"sm_60", {32, compute_5}},
    {"sm_70", {32, compute_5}},
    {"sm_75", {32, compute_7_5}},
    {"sm_80", {32, compute_8}},
    {"sm_89", {32, compute_8}},
    {"sm_90", {32, compute_9}},
    {"sm_100", {32, compute_9}},
    {"sm_120", {32, compute_9}},
    {"hd5870", {64, hd5870}},
    {"gcn", {64, gcn}},
    {"gfx908", {64, gcn}},
    {"gfx90a", {64, gcn}},
    {"gfx942", {64, gcn}},
    {"gfx950", {64, gfx950}},
    {"gfx1030", {64, std::bind_front(rdna, rdna3_read_b128)}},
    {"gfx1100", {64, std::bind_front(rdna, rdna3_read_b128)}},
    {"gfx1201", {64, std::bind_front(rdna, quarters)}},
    {"gfx1250", {32, gfx1250}},
    {"intel_xe", {32, intel}},
};

}  // namespace

SlowCost cost(std::string_view architecture, banks::Operation operation, unsigned width, std::uint64_t mask,
              const std::vector<std::uint32_t>& addresses, const std::vector<std::uint32_t>& sources) {
  const auto found = architectures.find(architecture);
  if (found == architectures.end() || !std::set{1U, 2U, 4U, 8U, 12U, 16U}.contains(width)) return refused();
  if (found->second.cost(operation, width, {}).refused) return refused();
  const unsigned rows = rows_of(operation);
  Lanes lanes;
  for (unsigned lane = 0; lane < 64; ++lane) {
    const bool active = (mask >> lane & 1) == 1;
    if (active && lane >= found->second.lanes) return refused();
    if (rows > 0 && lane >= rows) continue;
    if (rows > 0 && !active && mask != 0) return refused();
    if (!active) continue;
    const auto source = source_of(operation, sources, lane);
    if (lane >= addresses.size() || addresses[lane] % (width == 12 ? 4 : width) != 0 || !source) return refused();
    lanes.push_back({lane, addresses[lane], *source});
  }
  if (lanes.empty()) return {};
  SlowCost cost = found->second.cost(operation, width, lanes);
  cost.conflicts = cost.passes - cost.ideal;
  cost.conflicts_max = cost.passes_max - cost.ideal;
  if (operation == Operation::atomic_cas) {  // each conflict takes two passes and is counted once
    cost.conflicts /= 2;
    cost.conflicts_max /= 2;
  }
  return cost;
}

}  // namespace bankwise::slow
