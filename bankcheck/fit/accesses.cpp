#include "bankcheck/fit/accesses.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <set>
#include <stdexcept>

#include <bankwise/banks/cost.hpp>
#include "bankcheck/fit/compiled_accesses.hpp"

namespace bankwise::fit {
namespace {

using Weights = std::array<std::uint64_t, chunk_width>;

constexpr unsigned word = 4;  // bytes

unsigned alignment_of(unsigned width) { return width == 12 ? word : width; }

/// Whether the bytes of each word stay together.
bool keeps_words(const Change& change) {
  const auto is_whole = [](std::uint64_t bytes) { return bytes % word == 0; };
  return is_whole(change.rows.from) && is_whole(change.rows.to) &&
         (change.swizzle.bits == 0 || (1U << change.swizzle.base) >= word) &&
         std::ranges::all_of(change.pads, [&](const Pad& pad) { return is_whole(pad.every) && is_whole(pad.bytes); });
}

/// The bytes that stay together and lie in banks side by side: a request of an access, or a word of it.
unsigned block_bytes(const banks::Rule& rule, unsigned width) {
  const unsigned request = banks::request_bytes(rule, width);
  return std::has_single_bit(request) ? std::max(request, 4U) : 4U;
}

static_assert(max_chunk_blocks >= banks::max_units);
unsigned slots_of(const banks::Rule& rule, unsigned width) {
  return std::max(rule.banks.count * 4 / block_bytes(rule, width), 1U);
}

/// The most equal elements of a sorted list.
std::uint32_t max_equal(const std::vector<std::uint32_t>& sorted) {
  std::uint32_t longest = 0, run = 0;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    run = i > 0 && sorted[i] == sorted[i - 1] ? run + 1 : 1;
    longest = std::max(longest, run);
  }
  return longest;
}

/// The distance between most neighbouring active lanes; 0 if there is none, or if they share their addresses.
std::uint32_t common_stride(const trace::Pattern& pattern) {
  const auto for_each_distance = [&](auto visit) {
    std::optional<std::uint32_t> last;
    banks::for_each_lane(pattern.mask, [&](unsigned lane) {
      if (lane >= pattern.addresses.size()) return;
      const std::uint32_t address = pattern.addresses[lane];
      if (last) visit(address > *last ? address - *last : *last - address);
      last = address;
    });
  };
  std::uint32_t candidate = 0;
  int votes = 0, distances = 0;
  for_each_distance([&](std::uint32_t distance) {
    if (votes == 0) candidate = distance;
    votes += distance == candidate ? 1 : -1;
    ++distances;
  });
  int equal = 0;
  for_each_distance([&](std::uint32_t distance) { equal += distance == candidate ? 1 : 0; });
  return 2 * equal >= distances ? candidate : 0;
}

bool is_store(banks::Operation operation) {
  return operation != banks::Operation::load && operation != banks::Operation::ldmatrix_x1 &&
         operation != banks::Operation::ldmatrix_x2 && operation != banks::Operation::ldmatrix_x4;
}

/// What a layout can change of a lane group's passes.
struct GroupCost {
  std::vector<std::uint32_t> blocks;  // sorted; for rules that count words, each once
  std::uint32_t bound = 1;            // no layout has fewer passes
  bool varies = false;                // false: all layouts cost the same
};

GroupCost classify(const banks::Rule& rule, const banks::Access& access, const banks::LaneGroupCost& part,
                   std::uint64_t array_offset) {
  const unsigned request = banks::request_bytes(rule, access.width), block = block_bytes(rule, access.width);
  const unsigned slots = slots_of(rule, access.width);
  GroupCost lane_group;
  std::vector<std::uint32_t>& blocks = lane_group.blocks;
  banks::for_each_lane(part.lanes, [&](unsigned lane) {
    const std::uint64_t from = access.addresses[lane] - array_offset + part.first_byte;
    for (unsigned byte = 0; byte < request; byte += block) {
      blocks.push_back(std::uint32_t((from + byte) / block * block));
    }
  });
  if (rule.serving == banks::Serving::lanes) {
    std::ranges::sort(blocks);
    lane_group.bound = max_equal(blocks);
  } else {
    sort_distinct(blocks);
  }
  lane_group.bound = std::max(lane_group.bound, std::uint32_t((blocks.size() + slots - 1) / slots));
  lane_group.varies = blocks.size() > lane_group.bound && blocks.front() != blocks.back();
  return lane_group;
}

}  // namespace

std::vector<std::uint32_t> patterns_of(const trace::KernelTrace& trace, const std::vector<std::uint32_t>& arrays) {
  const std::set<std::uint32_t> wanted(arrays.begin(), arrays.end());
  std::vector<std::uint32_t> patterns;
  for (std::uint32_t i = 0; i < trace.patterns.size(); ++i) {
    if (wanted.contains(trace.patterns[i].array)) patterns.push_back(i);
  }
  return patterns;
}

Accesses::Accesses(const trace::KernelTrace& trace, const std::vector<std::uint32_t>& arrays,
                   const Architectures& architectures)
    : trace_(trace),
      arrays_(arrays),
      architectures_(architectures),
      constants_(architectures.size()),
      weights_by_(architectures.size()) {
  for (const banks::Architecture* architecture : architectures_) {
    if (trace::warps_in(trace_, *architecture) == 0) {
      throw std::invalid_argument(fmt::format("{} has warps of {} lanes, and the trace's have {}", architecture->name,
                                              architecture->warp, trace_.warp));
    }
  }
  GroupTable groups;
  groups.architectures = architectures_.size();
  for (const std::uint32_t array : arrays_) {
    const std::uint64_t bytes = trace_.arrays[array].bytes;
    facts_.extent_known &= bytes > 0;
    facts_.extent = std::max(facts_.extent, bytes);
  }
  const std::vector<std::uint32_t> patterns = patterns_of(trace_, arrays_);
  for (const std::uint32_t number : patterns) note_facts(trace_.patterns[number]);
  for (const std::uint32_t number : patterns) add_pattern(number, groups);
  FamilyBounds& bounds = facts_.bounds;
  bounds.extent = facts_.extent;
  bounds.granule = bounds.alignment = std::max(word, facts_.alignment);
  sort_distinct(triples_);
  if (facts_.extent >= max_chunk_offset) facts_.why_fixed = "the array has 4 MiB or more";
  bounds.fixed = !facts_.why_fixed.empty();
  // The strides whose accesses cost most.
  constexpr std::size_t max_strides = 8;
  std::vector<std::pair<std::uint64_t, std::uint32_t>> strides;
  using StrideAndPasses = std::pair<const std::uint32_t, std::uint64_t>;
  const auto most = std::ranges::max_element(groups.strides, {}, &StrideAndPasses::second);
  if (most != groups.strides.end()) facts_.stride = most->first;
  for (const auto& [stride, passes] : groups.strides) {
    if (!std::has_single_bit(stride)) strides.emplace_back(passes, stride);
  }
  std::sort(strides.rbegin(), strides.rend());
  for (std::size_t i = 0; i < std::min(strides.size(), max_strides); ++i) bounds.strides.push_back(strides[i].second);
  make_chunks(groups);
}

Accesses::Accesses(Accesses&&) noexcept = default;
Accesses::~Accesses() = default;

void Accesses::expect_merged(const ArrayShape& shape) {
  merged_ = widest_merged(trace_, arrays_, shape);
  if (merged_ == 0) return;
  merged_shape_ = shape;
  trace::KernelTrace part = trace_;
  std::erase_if(part.patterns, [&](const trace::Pattern& pattern) { return !is_one_of(arrays_, pattern.array); });
  for (auto bytes = merged_ / 2; bytes >= shape.element; bytes /= 2) {
    splits_.emplace_back(bytes,
                         std::make_unique<OwnAccesses>(split_accesses(part, arrays_, bytes), arrays_, architectures_));
  }
  const FamilyBounds& narrow = splits_.back().second->accesses.facts().bounds;
  facts_.bounds.granule = narrow.granule;
  facts_.bounds.alignment = narrow.alignment;
}

std::vector<const Accesses*> Accesses::variants() const {
  std::vector<const Accesses*> all{this};
  for (const auto& [bytes, split] : splits_) all.push_back(&split->accesses);
  return all;
}

const Accesses& Accesses::after(const Change& change) const {
  if (merged_ == 0) return *this;
  const unsigned bytes = merged_bytes(change, merged_shape_, merged_);
  const auto split = std::ranges::find_if(splits_, [&](const auto& each) { return each.first == bytes; });
  return split == splits_.end() ? *this : split->second->accesses;
}

template <class Visit>
void Accesses::for_each_warp(const trace::Pattern& pattern, const banks::Architecture& architecture,
                             Visit visit) const {
  trace::for_each_warp(pattern, trace_.warp, trace::warps_in(trace_, architecture), architecture, 1, visit);
}

void Accesses::note_facts(const trace::Pattern& pattern) {
  const unsigned rows = banks::matrix_rows(pattern.operation);
  ++facts_.patterns;
  facts_.accesses += pattern.count;
  facts_.narrowest = std::min(facts_.narrowest, pattern.width);
  facts_.stored |= is_store(pattern.operation);
  facts_.alignment = std::max(facts_.alignment, alignment_of(pattern.width));
  if (pattern.is_loop) facts_.loops += pattern.count;
  if (!pattern.lane_arrays.empty()) facts_.mixed += pattern.count;
  banks::for_each_lane(pattern.mask, [&](unsigned lane) {
    if (lane >= pattern.addresses.size() || (rows > 0 && lane >= rows)) return;
    const std::uint32_t array = pattern.lane_arrays.empty() ? pattern.array : pattern.lane_arrays[lane];
    const trace::Array& place = trace_.arrays[array];
    const std::uint64_t from = std::uint64_t{pattern.addresses[lane]} - place.offset, end = from + pattern.width;
    if (pattern.addresses[lane] < place.offset || (place.bytes > 0 && end > place.bytes)) {
      facts_.why_fixed = "an access reaches outside the array";
    } else if (from % alignment_of(pattern.width) != 0) {
      facts_.why_fixed = "the array does not begin at a multiple of its widest access";
    } else {
      facts_.extent = std::max(facts_.extent, end);
      if (pattern.width == 12) triples_.push_back(std::uint32_t(from));
    }
  });
}

void Accesses::add_pattern(std::uint32_t number, GroupTable& groups) {
  const trace::Pattern& pattern = trace_.patterns[number];
  std::uint64_t conflicts = 0;
  for (std::uint32_t a = 0; a < architectures_.size(); ++a) {
    const banks::Architecture& architecture = *architectures_[a];
    const banks::Rule* rule = banks::find_rule(architecture, pattern.operation, pattern.width);
    const bool fast = rule != nullptr && rule->only_banks_matter() &&
                      slots_of(*rule, pattern.width) <= max_chunk_slots && !pattern.is_loop &&
                      pattern.lane_arrays.empty() && facts_.why_fixed.empty() && facts_.extent < max_chunk_offset;
    if (rule != nullptr) facts_.bounds.period = std::max(facts_.bounds.period, rule->banks.row_bytes);
    std::uint64_t ideal = 0;
    bool known = false;
    for_each_warp(pattern, architecture, [&](const trace::WarpAccess& warp) {
      const banks::Cost* cost = warp.cost();
      facts_.executions += pattern.count;
      known |= cost != nullptr;
      if (cost == nullptr) {
        facts_.unknown += pattern.count;
        return;
      }
      ideal += pattern.count * cost->ideal;
      conflicts += pattern.count * cost->conflicts;
      if (fast) add_lane_groups(pattern, a, *rule, warp, groups);
    });
    ideal_ += ideal;
    if (fast || !known) continue;
    slow_.push_back({number, a, ideal});
    slow_bound_ += ideal;
  }
  if (conflicts == 0) return;
  if (const std::uint32_t stride = common_stride(pattern); stride > 0) groups.strides[stride] += conflicts;
}

void Accesses::add_lane_groups(const trace::Pattern& pattern, std::size_t architecture, const banks::Rule& rule,
                               const trace::WarpAccess& warp, GroupTable& groups) {
  const banks::Cost& cost = *warp.cost();
  const std::uint64_t weight = pattern.count * rule.rounds;
  for (unsigned g = 0; g < cost.lane_group_count; ++g) {
    const std::uint32_t passes = cost.lane_groups[g].passes / rule.rounds;
    const GroupCost lane_group = classify(rule, warp.access, cost.lane_groups[g], trace_.arrays[pattern.array].offset);
    if (!lane_group.varies) {
      constant_ += weight * passes;
      constants_[architecture] += weight * passes;
      continue;
    }
    const auto shift = unsigned(std::countr_zero(block_bytes(rule, pattern.width)));
    const std::size_t index = groups.find_or_add(lane_group.blocks, shift, slots_of(rule, pattern.width));
    GroupTable::LaneGroup& known = groups.groups[index];
    known.bound = lane_group.bound;
    known.now = passes;
    known.weight += weight;
    groups.weights[index * architectures_.size() + architecture] += weight;
  }
}

void Accesses::make_chunks(GroupTable& groups) {
  const std::size_t width = architectures_.size();
  // Chunks hold groups of one shape. Those that can lose most come first, so that bad changes are found out early.
  std::vector<std::uint32_t> order(groups.groups.size());
  std::iota(order.begin(), order.end(), 0U);
  const auto potential = [&](std::uint32_t i) {
    const GroupTable::LaneGroup& group = groups.groups[i];
    return group.weight * (1 + 8 * (group.now - group.bound));
  };
  const auto shape = [&](std::uint32_t i) {
    return std::tuple(groups.groups[i].blocks, groups.groups[i].shift, groups.groups[i].slots);
  };
  std::ranges::sort(order, [&](std::uint32_t a, std::uint32_t b) {
    return std::tuple(shape(a), potential(b), a) < std::tuple(shape(b), potential(a), b);
  });
  struct Planned {
    std::size_t first, count;
    std::uint64_t potential;
  };
  std::vector<Planned> planned;
  for (std::size_t i = 0; i < order.size();) {
    std::size_t end = i;
    std::uint64_t sum = 0;
    for (; end < order.size() && end < i + chunk_width && shape(order[end]) == shape(order[i]); ++end) {
      sum += potential(order[end]);
    }
    planned.push_back({i, end - i, sum});
    i = end;
  }
  std::ranges::stable_sort(planned, [](auto& a, auto& b) { return a.potential > b.potential; });
  std::size_t room = 0;
  for (const Planned& chunk : planned) room += std::size_t{groups.groups[order[chunk.first]].blocks} * chunk_width;
  offsets_.resize(room);
  weights_.resize(planned.size());
  for (auto& by : weights_by_) by.resize(planned.size());
  std::vector<std::uint64_t> bounds(planned.size());
  std::size_t begin = 0;
  for (std::size_t c = 0; c < planned.size(); ++c) {
    const GroupTable::LaneGroup& first = groups.groups[order[planned[c].first]];
    for (std::size_t lane = 0; lane < planned[c].count; ++lane) {
      const std::size_t index = order[planned[c].first + lane];
      const GroupTable::LaneGroup& group = groups.groups[index];
      for (unsigned block = 0; block < group.blocks; ++block) {
        offsets_[begin + chunk_width * block + lane] = std::int32_t(groups.pool[group.begin + block]);
      }
      weights_[c][lane] = group.weight;
      bounds[c] += weights_[c][lane] * group.bound;
      for (std::size_t a = 0; a < width; ++a) weights_by_[a][c][lane] = groups.weights[index * width + a];
    }
    chunks_.push_back({first.blocks, first.shift, first.slots, offsets_.data() + begin});
    begin += std::size_t{first.blocks} * chunk_width;
  }
  rest_bound_.assign(blocks() + 1, 0);
  for (std::size_t block = blocks(); block-- > 0;) {
    const std::size_t end = std::min(chunks_.size(), (block + 1) * chunks_per_block);
    rest_bound_[block] = rest_bound_[block + 1];
    for (std::size_t c = block * chunks_per_block; c < end; ++c) rest_bound_[block] += bounds[c];
  }
}

bool Accesses::keeps_together(const Change& change) const {
  return std::ranges::all_of(triples_, [&](std::uint32_t from) {
    return change(from + 4U) == change(from) + 4 && change(from + 8U) == change(from) + 8;
  });
}

std::uint64_t Accesses::block_passes(const Change& change, std::size_t block) const {
  std::array<ChunkCost, chunks_per_block> costs;
  const std::size_t first = block * chunks_per_block, count = std::min(chunks_per_block, chunks_.size() - first);
  chunk_costs(change, chunks_.data() + first, count, costs.data());
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < count; ++i) {
    for (unsigned lane = 0; lane < chunk_width; ++lane) sum += weights_[first + i][lane] * costs[i][lane];
  }
  return sum;
}

Placement Accesses::placement_of(const Change& change) const {
  std::vector<Placement::ChangedArray> changed;
  for (const std::uint32_t array : arrays_) {
    const std::uint64_t bytes = trace_.arrays[array].bytes;
    changed.push_back({array, change, bytes > 0 ? bytes : facts_.extent});
  }
  return {trace_, changed};
}

std::uint64_t Accesses::slow_cost(const Slow& slow, const Placement& placement) const {
  trace::Pattern pattern = trace_.patterns[slow.pattern];
  placement.move(pattern);
  std::uint64_t passes = 0;
  for_each_warp(pattern, *architectures_[slow.architecture], [&](const trace::WarpAccess& warp) {
    if (const auto* cost = warp.cost()) passes += pattern.count * cost->passes;
  });
  return passes;
}

std::optional<std::uint64_t> Accesses::slow_passes(const Change& change, std::uint64_t limit) const {
  if (slow_.empty()) return 0;
  const Placement placement = placement_of(change);
  std::uint64_t sum = 0, rest = slow_bound_;
  for (const Slow& slow : slow_) {
    sum += slow_cost(slow, placement);
    rest -= slow.ideal;
    if (sum + rest > limit) return std::nullopt;
  }
  return sum;
}

std::vector<std::uint64_t> Accesses::passes_by_access(const Change& change) const {
  std::vector<std::uint64_t> sums(architectures_.size());
  const Placement placement = placement_of(change);
  for (const std::uint32_t number : patterns_of(trace_, arrays_)) {
    for (std::uint32_t a = 0; a < sums.size(); ++a) sums[a] += slow_cost({number, a, 0}, placement);
  }
  return sums;
}

std::optional<std::uint64_t> Accesses::passes(const Change& change, std::uint64_t limit) const {
  if (const Accesses& left = after(change); &left != this) return left.passes(change, limit);
  if (!keeps_words(change)) {
    const std::vector<std::uint64_t> sums = passes_by_access(change);
    const std::uint64_t all = std::accumulate(sums.begin(), sums.end(), std::uint64_t{0});
    return all <= limit ? std::optional(all) : std::nullopt;
  }
  std::uint64_t sum = constant_;
  for (std::size_t block = 0; block < blocks(); ++block) {
    if (sum + rest_bound(block) > limit) return std::nullopt;
    sum += block_passes(change, block);
  }
  if (sum > limit) return std::nullopt;
  const auto slow = slow_passes(change, limit - sum);
  return slow ? std::optional(sum + *slow) : std::nullopt;
}

std::vector<std::uint64_t> Accesses::passes_by_architecture(const Change& change) const {
  if (const Accesses& left = after(change); &left != this) return left.passes_by_architecture(change);
  if (!keeps_words(change)) return passes_by_access(change);
  std::vector<std::uint64_t> sums = constants_;
  std::vector<ChunkCost> costs(chunks_.size());
  chunk_costs(change, chunks_.data(), chunks_.size(), costs.data());
  for (std::size_t a = 0; a < sums.size(); ++a) {
    for (std::size_t c = 0; c < costs.size(); ++c) {
      for (unsigned lane = 0; lane < chunk_width; ++lane) sums[a] += weights_by_[a][c][lane] * costs[c][lane];
    }
  }
  if (slow_.empty()) return sums;
  const Placement placement = placement_of(change);
  for (const Slow& slow : slow_) sums[slow.architecture] += slow_cost(slow, placement);
  return sums;
}

Difference Accesses::difference(const Change& before, const Change& changed) const {
  const Accesses& left = after(changed);
  if (&left != this) {  // other accesses: only the sums can be compared
    const std::uint64_t from = *passes(before), to = *left.passes(changed);
    const double change = double(from) - double(to);
    return {from > to ? from - to : 0, to > from ? to - from : 0, change * change};
  }
  Difference difference;
  const auto add = [&](std::uint64_t weight, std::uint64_t from, std::uint64_t to) {
    (from > to ? difference.gain : difference.harm) += weight * (from > to ? from - to : to - from);
    const double change = double(weight) * (double(from) - double(to));
    difference.squares += change * change;
  };
  std::vector<ChunkCost> from(chunks_.size()), to(chunks_.size());
  chunk_costs(before, chunks_.data(), chunks_.size(), from.data());
  chunk_costs(changed, chunks_.data(), chunks_.size(), to.data());
  for (std::size_t c = 0; c < chunks_.size(); ++c) {
    for (unsigned lane = 0; lane < chunk_width; ++lane) add(weights_[c][lane], from[c][lane], to[c][lane]);
  }
  if (slow_.empty()) return difference;
  const Placement old_places = placement_of(before), new_places = placement_of(changed);
  for (const Slow& slow : slow_) add(1, slow_cost(slow, old_places), slow_cost(slow, new_places));
  return difference;
}

}  // namespace bankwise::fit
