#include <bankwise/trace/trace.hpp>

#include <algorithm>
#include <bit>
#include <iterator>
#include <set>
#include <utility>

#include <bankwise/support/numbers.hpp>
#include <bankwise/trace/warps.hpp>

namespace bankwise::trace {
namespace {

/// In the order of Maker.
constexpr std::string_view makers[]{"", "bankcheck opencl", "bankcheck emulate", "bankcheck cuda"};

#define ALLOWED(fault, id) \
  { "Launch::allow = {Fault::" #fault "}", "--allow " id }

// clang-format off
constexpr FaultRow rows[]{
    {Fault::barrier_not_reached, "barrier-not-reached", "barrier not reached by all",
     "Threads wait at a barrier that other threads of the block do not reach.",
     ALLOWED(barrier_not_reached, "barrier-not-reached")},
    {Fault::out_of_bounds, "out-of-bounds", "out of bounds",
     "An access to shared memory does not lie within one array.", ALLOWED(out_of_bounds, "out-of-bounds")},
    {Fault::unwritten, "unwritten-read", "read of unwritten shared memory",
     "A thread reads shared memory that no thread of its block has written.", ALLOWED(unwritten, "unwritten-read")},
    {Fault::race, "race", "race",
     "Two threads access the same byte of shared memory, one of them writes, and nothing orders the two.",
     ALLOWED(race, "race")},
    {Fault::wrong_mask, "wrong-mask", "wrong mask",
     "The mask of a warp intrinsic leaves out its caller, or names a lane that never comes.",
     ALLOWED(wrong_mask, "wrong-mask")},
    {Fault::misaligned, "misaligned-address", "misaligned address",
     "An address is not a multiple of the alignment that its type guarantees.", {}},
    {Fault::step_limit, "step-limit", "step limit",
     "A block takes more steps than allowed, most likely in an endless loop.", {"Launch::step_limit", "--step-limit"}},
    {Fault::access_limit, "access-limit", "access limit",
     "A block makes more accesses than may be recorded in order.", {"Launch::access_limit", ""}},
    {Fault::invalid_address, "invalid-address", "invalid address",
     "A thread accesses memory that does not exist, or its stack is full.", {}},
    {Fault::division_by_zero, "division-by-zero", "division by zero", "A thread divides an integer by zero.", {}},
    {Fault::trap, "trap", "trap", "The kernel calls __trap(), or an assertion fails.", {}},
    {Fault::lanes_collide, "lanes-collide", "several lanes write one word",
     "Several lanes write different values to one word in one instruction; CUDA does not define which of them remains.",
     ALLOWED(lanes_collide, "lanes-collide"), true},
    {Fault::barriers_differ, "barriers-differ", "one barrier at several places",
     "Warps pass one barrier from several places in the source: PTX counts the arrivals, but CUDA C++ requires that "
     "the whole block executes the same __syncthreads().",
     ALLOWED(barriers_differ, "barriers-differ"), true},
    {Fault::global_race, "global-race", "race in global memory",
     "Two threads of a launch access the same byte of device memory, one of them writes, and nothing orders the two.",
     ALLOWED(global_race, "global-race")},
};
// clang-format on
#undef ALLOWED

using banks::Access, banks::Architecture, banks::Cost, banks::Operation;

std::optional<Cost> cost_of(const Architecture& architecture, Access access, Operation operation, std::uint64_t mask) {
  access.operation = operation;
  access.mask = mask;
  const auto answer = banks::cost(architecture, access);
  const auto* cost = std::get_if<Cost>(&answer);
  return cost == nullptr ? std::nullopt : std::optional(*cost);
}

/// One turn of a loop: the load, and the compare-and-swap, ATOMS.CAST.SPIN. In each lane group that serves one lane of
/// each bank, the lowest, and takes as many passes as ATOMS.CAS without a conflict; the other lanes try again.
struct Turn {
  unsigned load = 0, swap = 0;  ///< passes
  unsigned ideal = 0;           ///< of both
  std::uint64_t served = 0;     ///< lanes that are done, if no other warp has changed their words since the load
  bool repeats = false;         ///< some lane is not
};

std::optional<Turn> turn_of(const Architecture& architecture, const Access& access, std::uint64_t mask) {
  constexpr unsigned row_bytes = 128;
  const banks::Rule* rule = banks::find_rule(architecture, Operation::atomic_cas, access.width);
  const auto load = cost_of(architecture, access, Operation::load, mask);
  if (!load || rule == nullptr || !rule->refusal.empty()) return std::nullopt;
  Turn turn{.load = load->passes, .ideal = load->ideal};
  std::set<std::uint32_t> changed;  // words, by the lane groups before
  for (unsigned group = 0; group < rule->lane_groups.count; ++group) {
    const std::uint64_t lanes = mask & rule->lane_groups.lanes[group];
    std::set<std::uint32_t> banks, words;
    banks::for_each_lane(lanes, [&](unsigned lane) {
      const std::uint32_t word = access.addresses[lane] / access.width;
      if (!banks.insert(word % (row_bytes / access.width)).second || changed.contains(word)) return;
      words.insert(word);
      turn.served |= std::uint64_t{1} << lane;
    });
    changed.merge(words);
    if (lanes != 0) turn.swap += rule->rounds;
  }
  turn.ideal += turn.swap;
  turn.repeats = turn.served != mask;
  return turn;
}

/// The most lanes of one bank, in all lane groups together.
unsigned most_lanes_of_bank(const Access& access) {
  std::map<std::uint32_t, unsigned> lanes;
  unsigned most = 0;
  banks::for_each_lane(access.mask, [&](unsigned lane) {
    most = std::max(most, ++lanes[access.addresses[lane] / access.width % (128 / access.width)]);
  });
  return most;
}

void normalize(std::vector<std::uint32_t>& of_lanes, std::uint64_t mask) {
  if (of_lanes.empty()) return;
  of_lanes.resize(banks::max_lanes - unsigned(std::countl_zero(mask)));
  for (std::size_t lane = 0; lane < of_lanes.size(); ++lane) {
    if ((mask >> lane & 1) == 0) of_lanes[lane] = 0;
  }
}

/// Reduces the sources of active lanes to what matters: see Pattern::sources.
void normalize_sources(Pattern& pattern) {
  std::array<std::uint32_t, banks::max_lanes> lines{};
  std::uint32_t count = 0;
  banks::for_each_lane(pattern.mask, [&](unsigned lane) {
    if (lane >= pattern.sources.size() || pattern.sources[lane] == banks::no_source) return;
    std::uint32_t& source = pattern.sources[lane];
    const std::uint32_t line = source / source_bytes;
    source %= source_bytes;
    if (pattern.operation != banks::Operation::cp_async_cg) return;
    const auto number = std::uint32_t(std::find(lines.begin(), lines.begin() + count, line) - lines.begin());
    if (number == count) lines[count++] = line;
    source += number * source_bytes;
  });
}

}  // namespace

std::uint64_t total(const LeftOut& left_out) {
  std::uint64_t sum = 0;
  for (const auto& [cause, count] : left_out) sum += count;
  return sum;
}

void KernelTime::add(const KernelTime& other) {
  if (launches == 0) {
    *this = other;
    return;
  }
  launches += other.launches;
  nanoseconds += other.nanoseconds;
  overlapped |= other.overlapped;
}

std::string_view to_string(Maker maker) { return makers[std::size_t(maker)]; }

Maker maker_named(std::string_view name) {
  const auto* maker = std::ranges::find(makers, name);
  return maker == std::end(makers) ? Maker::other : Maker(maker - std::begin(makers));
}

std::vector<std::uint32_t> relative_to_line(std::uint64_t mask, const std::uint64_t* addresses) {
  constexpr std::uint64_t line = 128, max_gap = std::uint64_t{16} << 20;
  std::vector<std::uint32_t> offsets(banks::max_lanes - unsigned(std::countl_zero(mask)));
  std::array<unsigned, banks::max_lanes> order;
  unsigned lanes = 0;
  banks::for_each_lane(mask, [&](unsigned lane) { order[lanes++] = lane; });
  const auto by_address = [&](unsigned a, unsigned b) { return addresses[a] < addresses[b]; };
  if (!std::is_sorted(order.begin(), order.begin() + lanes, by_address))
    std::sort(order.begin(), order.begin() + lanes, by_address);
  std::uint64_t removed = lanes == 0 ? 0 : addresses[order[0]] / line * line;
  for (unsigned i = 0; i < lanes; ++i) {
    const std::uint64_t gap = i == 0 ? 0 : addresses[order[i]] - addresses[order[i - 1]];
    if (gap >= max_gap + line) removed += (gap - max_gap) / line * line;
    offsets[order[i]] = std::uint32_t(addresses[order[i]] - removed);
  }
  return offsets;
}

void normalize(Pattern& pattern) {
  normalize(pattern.addresses, pattern.mask);
  normalize(pattern.lane_arrays, pattern.mask);
  normalize(pattern.sources, pattern.mask);
  if (!pattern.sources.empty()) normalize_sources(pattern);
}

std::uint64_t blocks_of(const LaunchShape& shape) {
  std::uint64_t blocks = 1;
  for (std::size_t i = 0; i < shape.threads.size(); ++i) {
    const std::uint64_t size = std::max<std::uint64_t>(1, shape.block[i]), threads = shape.threads[i];
    blocks = support::saturating_product(blocks, threads / size + (threads % size != 0 ? 1 : 0));
  }
  return blocks;
}

std::uint64_t launches_of(const KernelTrace& kernel) {
  std::uint64_t launches = 0;
  for (const LaunchShape& shape : kernel.shapes) launches += shape.launches;
  return launches;
}

std::uint64_t launched_blocks(const KernelTrace& kernel) {
  std::uint64_t blocks = 0;
  for (const LaunchShape& shape : kernel.shapes) {
    if (__builtin_add_overflow(blocks, support::saturating_product(blocks_of(shape), shape.launches), &blocks))
      return support::saturated;
  }
  return blocks;
}

std::uint64_t accesses_of(const KernelTrace& kernel) {
  std::uint64_t accesses = kernel.excess_accesses;
  for (const Pattern& pattern : kernel.patterns) accesses += pattern.count;
  return accesses;
}

KernelTrace merged(const KernelTrace& kernel) {
  KernelTrace second = kernel;
  if (second.merged) second.patterns = *std::exchange(second.merged, std::nullopt);
  second.order.clear();
  for (const SectorMembers& memory : sector_members) {  // they are the same in both
    (second.*memory.patterns).clear();
    (second.*memory.excess).clear();
    second.*memory.excess_accesses = 0;
  }
  second.global_left_out = 0;
  return second;
}

// Without {fmt}: a plugin of Oclgrind contains this.
std::string sentence_of(const DiagnosisRecord& diagnosis) {
  const FaultRow& row = row_of(diagnosis.fault);
  std::string text = row.is_remark ? "note: " : "";
  text.append(row.name).append(": ").append(diagnosis.text);
  if (diagnosis.count > 1) text += "; " + std::to_string(diagnosis.count) + " times";
  if (diagnosis.ended) text += "; this ended the launch";
  return text;
}

std::string placed_sentence_of(const DiagnosisRecord& diagnosis, const KernelTrace& kernel) {
  const Site& site = kernel.sites[diagnosis.site];
  const std::string place = site.line == 0 ? "?" : site.file + ":" + std::to_string(site.line);
  return place + ": " + sentence_of(diagnosis);
}

bool is_sampled(std::uint64_t block, std::uint64_t blocks, std::uint64_t max_blocks) {
  if (max_blocks == 0 || max_blocks >= blocks) return true;
  const auto before = [&](std::uint64_t number) {
    return std::uint64_t(static_cast<__uint128_t>(number) * max_blocks / blocks);
  };
  return before(block + 1) > before(block);
}

std::span<const FaultRow> faults() { return rows; }
const FaultRow& row_of(Fault fault) { return rows[int(fault)]; }
std::string_view to_string(Fault fault) { return row_of(fault).name; }

std::optional<Fault> fault_named(std::string_view id) {
  const auto* row = std::ranges::find(rows, id, &FaultRow::id);
  return row == std::end(rows) ? std::nullopt : std::optional(row->fault);
}

std::optional<LoopCost> loop_cost(const Architecture& architecture, Operation operation, const Access& access,
                                  unsigned block_warps) {
  if (block_warps == 0 || operation != Operation::atomic) return std::nullopt;
  if (!architecture.name.starts_with("sm_")) return std::nullopt;  // AMD's and Intel's loops are others, or none
  const auto first = turn_of(architecture, access, access.mask);
  if (!first) return std::nullopt;
  unsigned least = 0;
  for (std::uint64_t left = access.mask; left != 0;) {
    const auto turn = turn_of(architecture, access, left);
    if (!turn) return std::nullopt;
    least += turn->load + turn->swap;
    left &= ~turn->served;
  }
  // Each update by another warp makes at most one turn of this one fail.
  const unsigned most =
      block_warps == 1 ? least : block_warps * most_lanes_of_bank(access) * (first->load + first->swap);
  LoopCost loop{.more = std::max(most, least) - least};
  loop.least.passes = least;
  loop.least.ideal = first->ideal;
  loop.least.conflicts = least - first->ideal;
  return loop;
}

void find_cost(const Architecture& architecture, const Pattern& pattern, unsigned block_warps, WarpAccess& access) {
  if (is_turn(pattern) && architecture.name.starts_with("sm_")) {
    if (const auto turn = turn_of(architecture, access.access, access.access.mask)) {
      Cost& cost = access.answer.emplace<Cost>();
      cost.passes = turn->swap;
      cost.ideal = turn->repeats ? 0 : turn->swap;
      cost.conflicts = cost.passes - cost.ideal;
      return;
    }
  }
  if (pattern.is_loop) {
    if (const auto loop = loop_cost(architecture, pattern.operation, access.access, block_warps)) {
      access.answer = loop->least;
      access.more = loop->more;
    } else {
      access.answer =
          "a " + std::to_string(pattern.width) + "-byte atomic of this kind is a loop whose length depends on the data";
    }
    return;
  }
  const auto answer = banks::cost(architecture, access.access);
  if (const auto* refusal = std::get_if<banks::Refusal>(&answer)) {
    access.answer = banks::sentence(architecture, access.access, *refusal);
  } else {
    access.answer = std::get<Cost>(answer);
  }
}

}  // namespace bankwise::trace
