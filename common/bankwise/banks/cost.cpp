#include <bankwise/banks/cost.hpp>

#include <algorithm>

#include <bankwise/banks/units.hpp>

namespace bankwise::banks {
namespace {

constexpr std::string_view operation_names[operation_count]{
    "load",        "store",       "atomic",      "atomic.inc",  "atomic.cas", "ldmatrix.x1", "ldmatrix.x2",
    "ldmatrix.x4", "stmatrix.x1", "stmatrix.x2", "stmatrix.x4", "cp.async",   "cp.async.cg", "ds_read_tr"};

/// The words that the lanes of a lane group need, bank by bank. Whatever a bank delivers in one pass has one key.
class Needs {
 public:
  void add(unsigned bank, std::uint64_t key) {
    keys_[count_] = key;
    banks_[count_++] = std::uint8_t(bank);
  }

  /// The most that one bank has to deliver.
  unsigned of_busiest_bank() const {
    std::uint64_t used = 0;
    for (unsigned i = 0; i < count_; ++i) used |= std::uint64_t{1} << banks_[i];
    if (std::popcount(used) == int(count_)) return 1;  // each has a bank to itself: no conflict
    std::array<std::uint8_t, 1 << slot_bits> slots{};  // 1 + index of the key; 0: empty
    std::array<std::uint8_t, max_banks> delivers{};
    unsigned max_delivered = 0;
    for (unsigned i = 0; i < count_; ++i) {
      if (is_new(slots, i)) max_delivered = std::max<unsigned>(max_delivered, ++delivers[banks_[i]]);
    }
    return max_delivered;
  }

 private:
  static constexpr unsigned slot_bits = 8;  // twice as many slots as keys, for short searches
  bool is_new(std::array<std::uint8_t, 1 << slot_bits>& slots, unsigned i) const {
    auto slot = unsigned(keys_[i] * 0x9E3779B97F4A7C15U >> (64 - slot_bits));
    for (; slots[slot] != 0; slot = (slot + 1) % slots.size()) {
      if (keys_[slots[slot] - 1U] == keys_[i]) return false;
    }
    slots[slot] = std::uint8_t(i + 1);
    return true;
  }
  std::array<std::uint64_t, max_units> keys_;
  std::array<std::uint8_t, max_units> banks_;
  unsigned count_ = 0;
};

unsigned busiest(const Rule& rule, const Access& access, std::uint64_t lanes, Request request) {
  Needs needs;
  for_each_unit(rule, access, lanes, request,
                [&](unsigned, unsigned bank, std::uint64_t key) { needs.add(bank, key); });
  return needs.of_busiest_bank();
}

/// The most lanes that one lane of a copy meets: those with its source bank or its destination bank, itself included.
/// Lanes that write zeros have no source.
unsigned max_met(const Rule& rule, const Access& access, std::uint64_t lanes) {
  const auto bank = [&](std::uint32_t address) { return address / rule.banks.bytes % rule.banks.count; };
  std::array<std::uint64_t, max_banks> from{}, to{};  // the lanes of each bank
  for_each_lane(lanes, [&](unsigned lane) {
    if (access.sources[lane] != no_source) from[bank(access.sources[lane])] |= std::uint64_t{1} << lane;
    to[bank(access.addresses[lane])] |= std::uint64_t{1} << lane;
  });
  int max_lanes_met = 0;
  for_each_lane(lanes, [&](unsigned lane) {
    const bool reads = access.sources[lane] != no_source;
    const std::uint64_t met = (reads ? from[bank(access.sources[lane])] : 0) | to[bank(access.addresses[lane])];
    max_lanes_met = std::max(max_lanes_met, std::popcount(met));
  });
  return unsigned(max_lanes_met);
}

/// The 16 bytes that a lane copies past the L1 cache, in slots of 16 bytes.
struct SlotMove {
  std::uint32_t from = 0, to = 0;
  unsigned turn = 0;   ///< moves of the same source, line of destination and side that later lanes make
  unsigned sides = 0;  ///< of the sector of 32 bytes: what the moves between the same sectors copy; bit 0: lower half

  bool changes_side() const { return ((from ^ to) & 1) != 0; }
  bool is_with(const SlotMove& other) const { return turn == other.turn && changes_side() == other.changes_side(); }
};

/// The slots that a copy past the L1 cache moves. Of lanes with the same destination only the first counts.
unsigned slot_moves(const Access& access, std::uint64_t lanes, std::array<SlotMove, max_lanes>& moves) {
  constexpr unsigned slot = 16;
  unsigned count = 0;
  for_each_lane(lanes, [&](unsigned lane) {
    const SlotMove move{access.sources[lane] / slot, access.addresses[lane] / slot};
    const auto end = moves.begin() + count;
    if (std::none_of(moves.begin(), end, [&](const SlotMove& other) { return other.to == move.to; })) {
      moves[count++] = move;
    }
  });
  return count;
}

/// The passes in which lanes that read copy past the L1 cache. One pass moves slots of 16 bytes from one line of global
/// memory to one line of shared memory, if all of them change their place within 64 bytes in the same way (source XOR
/// destination), and if of each sector of 32 bytes the same part moves: all of it, the lower half or the upper half.
unsigned moves(const Access& access, std::uint64_t lanes) {
  std::array<SlotMove, max_lanes> all;
  const std::span moves(all.data(), slot_moves(access, lanes, all));
  for (std::size_t i = moves.size(); i-- > 0;) {
    for (const SlotMove& later : moves.subspan(i + 1)) {
      const bool same = later.from == moves[i].from && later.to / 8 == moves[i].to / 8 &&
                        later.changes_side() == moves[i].changes_side();
      moves[i].turn += same ? 1 : 0;
    }
  }
  for (SlotMove& move : moves) {
    for (const SlotMove& other : moves) {
      const bool same = other.is_with(move) && other.from / 2 == move.from / 2 && other.to / 2 == move.to / 2;
      move.sides |= same ? 1U << other.from % 2 : 0;
    }
  }
  unsigned passes = 0;
  for (std::size_t i = 0; i < moves.size(); ++i) {
    const SlotMove& move = moves[i];
    passes += std::none_of(moves.begin(), moves.begin() + std::ptrdiff_t(i),
                           [&](const SlotMove& earlier) {
                             return earlier.is_with(move) && earlier.sides == move.sides &&
                                    earlier.from / 8 == move.from / 8 && earlier.to / 8 == move.to / 8 &&
                                    (earlier.from ^ earlier.to) % 4 == (move.from ^ move.to) % 4;
                           })
                  ? 1
                  : 0;
  }
  return passes;
}

/// The passes of a copy past the L1 cache, and those without conflicts. If some lanes write zeros, all lanes first
/// write to their destinations, in lane groups of 8, and then those that read do so again.
struct PastL1 {
  unsigned passes = 0, ideal = 0;
};
PastL1 past_l1(const Access& access, std::uint64_t lanes) {
  std::uint64_t reading = 0;
  for_each_lane(lanes, [&](unsigned lane) { reading |= std::uint64_t{access.sources[lane] != no_source} << lane; });
  std::array<SlotMove, max_lanes> slots;
  PastL1 cost{moves(access, reading), (slot_moves(access, reading, slots) + 7) / 8};
  if (reading == lanes) return cost;
  for (unsigned first = 0; first < max_lanes; first += 8) {
    std::array<unsigned, 8> waiting{};  // lanes, by the slot of their destination
    for_each_lane(lanes & std::uint64_t{0xff} << first,
                  [&](unsigned lane) { ++waiting[access.addresses[lane] / 16 % 8]; });
    const unsigned most = *std::max_element(waiting.begin(), waiting.end());
    cost.passes += most;
    cost.ideal += most > 0 ? 1 : 0;
  }
  return cost;
}

Steps serve(const Rule& rule, const Access& access, std::uint64_t lanes, Request request) {
  const auto exactly = [&](unsigned deliveries) { return Steps{deliveries * rule.rounds, deliveries * rule.rounds}; };
  if (rule.serving == Serving::copies) return exactly(max_met(rule, access, lanes));
  if (rule.serving == Serving::lines) return exactly(past_l1(access, lanes).passes);
  if (rule.serving != Serving::one_broadcast) return exactly(busiest(rule, access, lanes, request));
  std::array<std::uint64_t, 16> words;
  unsigned count = 0;
  for_each_unit(rule, access, lanes, request, [&](unsigned, unsigned, std::uint64_t word) { words[count++] = word; });
  return broadcast_steps({words.data(), count});
}

/// 1 or 2 if every active lane has the address of the lane at this distance (XOR), or that lane is inactive; else 0.
unsigned agreeing_distance(const Access& access) {
  for (const unsigned distance : {1U, 2U}) {
    bool agree = true;
    for_each_lane(access.mask, [&](unsigned lane) {
      const unsigned partner = lane ^ distance;
      agree = agree && ((access.mask >> partner & 1) == 0 || access.addresses[lane] == access.addresses[partner]);
    });
    if (agree) return distance;
  }
  return 0;
}

LaneGroups merged(const LaneGroups& lane_groups) {
  LaneGroups half{lane_groups.count / 2, {}};
  for (unsigned i = 0; i < half.count; ++i) half.lanes[i] = lane_groups.lanes[2 * i] | lane_groups.lanes[2 * i + 1];
  return half;
}

/// Lanes whose addresses matter.
std::uint64_t lanes_of(const Access& access) {
  const unsigned rows = matrix_rows(access.operation);
  return rows == 0 ? access.mask : (std::uint64_t{1} << rows) - 1;
}

unsigned alignment(unsigned width) { return width == 12 ? 4 : width; }

std::optional<Refusal> refuse(const Architecture& architecture, const Rule* rule, const Access& access) {
  using enum Refusal::Reason;
  if (rule == nullptr) return Refusal{no_such_instruction};
  if (!rule->refusal.empty()) return Refusal{unknown_rule};
  if (access.mask >> (architecture.lanes - 1) > 1) {
    return Refusal{lane_beyond_warp,
                   architecture.lanes + unsigned(std::countr_zero(access.mask >> architecture.lanes))};
  }
  const std::uint64_t lanes = lanes_of(access);
  if (access.mask != 0 && (lanes & ~access.mask) != 0) {
    return Refusal{inactive_row, unsigned(std::countr_zero(lanes & ~access.mask))};
  }
  if (access.mask == 0) return std::nullopt;
  const unsigned last = unsigned(std::bit_width(lanes)) - 1;
  if (last >= access.addresses.size()) {
    const std::uint64_t missing = lanes >> access.addresses.size();
    return Refusal{address_missing, unsigned(access.addresses.size()) + unsigned(std::countr_zero(missing))};
  }
  if (is_copy(access.operation) && last >= access.sources.size()) {
    const std::uint64_t missing = lanes >> access.sources.size();
    return Refusal{source_missing, unsigned(access.sources.size()) + unsigned(std::countr_zero(missing))};
  }
  const std::uint32_t below = alignment(access.width) - 1;
  std::uint32_t any = 0;  // inactive lanes included, which is faster and nearly always sufficient
  for (unsigned lane = 0; lane <= last; ++lane) any |= access.addresses[lane];
  if ((any & below) == 0) return std::nullopt;
  std::uint64_t bad = 0;
  for_each_lane(lanes, [&](unsigned lane) { bad |= std::uint64_t{(access.addresses[lane] & below) != 0} << lane; });
  if (bad == 0) return std::nullopt;
  return Refusal{misaligned, unsigned(std::countr_zero(bad))};
}

/// Computes the cost from the lane groups, by the rule's way of counting.
void add_up(const Rule& rule, Cost& cost) {
  for (unsigned i = 0; i < cost.lane_group_count; ++i) {
    const LaneGroupCost& lane_group = cost.lane_groups[i];
    if (rule.total == Total::sum) {
      cost.passes += lane_group.passes;
      cost.passes_max += lane_group.passes_max;
      cost.ideal += rule.rounds;
    } else {
      const unsigned ways = lane_group.passes + (rule.total == Total::worst_plus_one ? 1 : 0);
      cost.passes = cost.passes_max = std::max(cost.passes, ways);
      cost.ideal = 1;
    }
  }
  cost.conflicts = (cost.passes - cost.ideal) / rule.rounds;
  cost.conflicts_max = (cost.passes_max - cost.ideal) / rule.rounds;
}

}  // namespace

std::string_view to_string(Operation operation) { return operation_names[int(operation)]; }

std::optional<Operation> operation_named(std::string_view name) {
  const auto entry = std::find(std::begin(operation_names), std::end(operation_names), name);
  if (entry == std::end(operation_names)) return std::nullopt;
  return Operation(entry - std::begin(operation_names));
}

const Rule* find_rule(const Architecture& architecture, Operation operation, unsigned width) {
  if (width == 0 || width > 16) return nullptr;
  for (const Rule& rule : architecture.rules) {
    if ((rule.operations >> int(operation) & 1) != 0 && (rule.widths >> width & 1) != 0) return &rule;
  }
  return nullptr;
}

std::variant<Cost, Refusal> cost(const Architecture& architecture, const Access& access) {
  const Rule* rule = find_rule(architecture, access.operation, access.width);
  if (const auto refusal = refuse(architecture, rule, access)) return *refusal;

  std::variant<Cost, Refusal> outcome;  // returned without a copy
  Cost& cost = std::get<Cost>(outcome);
  if (access.mask == 0) return outcome;
  cost.merged_by = rule->merges ? agreeing_distance(access) : 0;
  const LaneGroups lane_groups = cost.merged_by != 0 ? merged(rule->lane_groups) : rule->lane_groups;
  const std::uint64_t lanes = lanes_of(access);
  // A warp that has more active lanes than usual is a wide one.
  const bool wide = unsigned(std::bit_width(access.mask)) > architecture.warp;
  const std::uint64_t warp = ~std::uint64_t{0} >> (max_lanes - (wide ? architecture.lanes : architecture.warp));
  const std::uint64_t counted = matrix_rows(access.operation) != 0 ? lanes : warp;
  const unsigned bytes = request_bytes(*rule, access.width);

  for (unsigned first = 0; first < access.width; first += bytes) {
    for (unsigned i = 0; i < lane_groups.count; ++i) {
      if ((lane_groups.lanes[i] & counted) != 0) ++cost.floor;
      const std::uint64_t active = lane_groups.lanes[i] & lanes;
      if (active == 0) continue;
      const Steps steps = serve(*rule, access, active, {first, bytes});
      cost.lane_groups[cost.lane_group_count++] = {active, first, std::uint16_t(steps.min), std::uint16_t(steps.max)};
    }
  }
  add_up(*rule, cost);
  if (rule->serving == Serving::lines) {
    cost.ideal = past_l1(access, lanes).ideal;
    cost.conflicts = cost.conflicts_max = cost.passes - cost.ideal;
  }
  return outcome;
}

std::string sentence(const Architecture& architecture, const Access& access, Refusal refusal) {
  using enum Refusal::Reason;
  const auto name = [](std::string_view text) { return std::string(text); };
  const std::string lane = "lane " + std::to_string(refusal.lane);
  const std::string access_text = std::to_string(access.width) + "-byte " + name(to_string(access.operation));
  switch (refusal.reason) {
    case no_such_instruction: {
      std::string others;
      for (unsigned width = 1; width <= 16; ++width) {
        const Rule* rule = find_rule(architecture, access.operation, width);
        if (rule != nullptr && rule->refusal.empty())
          others += (others.empty() ? ", only of " : ", ") + std::to_string(width);
      }
      return name(architecture.name) + " has no " + access_text + others;
    }
    case unknown_rule: {
      const Rule* rule = find_rule(architecture, access.operation, access.width);
      return "no cost for " + access_text + " on " + name(architecture.name) + ": " + name(rule ? rule->refusal : "");
    }
    case lane_beyond_warp:
      return lane + " is active, but " + name(architecture.name) + " has lanes 0 to " +
             std::to_string(architecture.lanes - 1);
    case address_missing: return lane + " is active but has no address";
    case source_missing:
      return "the address in global memory that " + lane + " reads is not known, and the passes of " + access_text +
             " depend on it";
    case misaligned:
      return "the address of " + lane + ", " + std::to_string(access.addresses[refusal.lane]) +
             ", is not a multiple of " + std::to_string(alignment(access.width));
    case inactive_row: return lane + " gives the address of a row, but is not active";
  }
  return "";
}

std::vector<Touch> layout(const Architecture& architecture, const Access& access, const Cost& cost) {
  const Rule* rule = find_rule(architecture, access.operation, access.width);
  std::vector<Touch> touches;
  if (is_copy(access.operation)) return touches;
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
