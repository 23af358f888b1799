// A proof about sums in a tree: interleaved addressing, `sums[2 * s * i] += sums[2 * s * i + s]` for s = 1, 2, 4, ...
#include <algorithm>
#include <bit>
#include <map>
#include <set>
#include <utility>

#include "bankcheck/fit/cures_parts.hpp"

namespace bankwise::fit {
namespace {

using Patterns = std::vector<const trace::Pattern*>;

/// Bytes between lanes in each level that has a step of the tree.
using Steps = std::map<std::uint32_t, std::int64_t>;

/// Whether an access is of elements 0, 1, 2, ... of the array in strides, or of those in the middle between them.
bool is_in_tree(const trace::Pattern& pattern, std::int64_t offset, std::int64_t stride) {
  const auto lanes = lane_stride(pattern);
  return lanes && lanes->bytes == stride && (lanes->begin - offset) % (stride / 2) == 0;
}

/// The levels whose lanes are 2, 4, 8, ... elements apart.
Steps steps_of(const Patterns& patterns) {
  Steps steps;
  for (const trace::Pattern* pattern : patterns) {
    const auto lanes = lane_stride(*pattern);
    const bool is_step = lanes && lanes->bytes >= 2 * std::int64_t{pattern->width};
    if (is_step) steps.try_emplace(pattern->level, lanes->bytes);
  }
  return steps;
}

bool double_from(const Steps& steps, std::int64_t stride) {
  return std::ranges::all_of(steps, [&](const auto& step) { return step.second == std::exchange(stride, 2 * stride); });
}

/// Whether an access belongs to the tree, or comes before it. A single lane makes the last steps, and loads the sum.
bool belongs_to(const Steps& steps, const trace::Pattern& pattern, std::int64_t offset) {
  if (pattern.level < steps.begin()->first) return true;
  const auto step = steps.find(pattern.level);
  if (std::popcount(pattern.mask) > 1) return step != steps.end() && is_in_tree(pattern, offset, step->second);
  const std::int64_t at = pattern.addresses[std::size_t(std::countr_zero(pattern.mask))] - offset;
  return at % (step != steps.end() ? step->second / 2 : steps.rbegin()->second) == 0;
}

/// The access if its lanes are neighbours; where they begin does not matter.
trace::Pattern with_neighbours(trace::Pattern pattern, std::uint32_t offset) {
  for (std::size_t lane = 0; lane < pattern.addresses.size(); ++lane) {
    pattern.addresses[lane] = offset + pattern.width * std::uint32_t(lane);
  }
  return pattern;
}

std::optional<Cure> sequential_addressing(const Evidence& evidence, const ArrayFit& array) {
  constexpr std::size_t fewest_steps = 3;
  const Patterns patterns = all_accesses(evidence, array);
  const Steps steps = steps_of(patterns);
  if (steps.size() < fewest_steps || !has_whole_warps(evidence)) return std::nullopt;
  const std::uint32_t offset = evidence.trace.arrays[array.arrays.front()].offset;
  const std::int64_t width = patterns.front()->width;
  const bool is_tree = double_from(steps, 2 * width) && std::ranges::all_of(patterns, [&](const auto* pattern) {
                         return pattern->width == width && belongs_to(steps, *pattern, offset);
                       });
  if (!is_tree) return std::nullopt;
  Costs before(evidence), after(evidence);
  std::set<std::uint32_t> sites;
  Patterns changed;
  std::set<std::pair<std::uint32_t, std::int64_t>> operands;  // by level
  for (const trace::Pattern* pattern : patterns) {
    const auto step = steps.find(pattern->level);
    if (step == steps.end() || std::popcount(pattern->mask) < 2) continue;
    before.add_passes(*pattern);
    after.add_passes(with_neighbours(*pattern, offset));
    sites.insert(pattern->site);
    changed.push_back(pattern);
    if (pattern->operation != banks::Operation::load) continue;
    operands.insert({pattern->level, (lane_stride(*pattern)->begin - offset) % step->second});
  }
  auto costs = before.until(after);
  const bool are_pairs = operands.size() == 2 * steps.size();
  if (!costs || !are_pairs || !beats_layout(evidence, array, changed, *costs, true)) return std::nullopt;
  return Cure{.kind = CureKind::sequential_addressing,
              .unit = CureUnit::passes,
              .array = array.name,
              .sites = places_of(evidence.trace, sites),
              .costs = std::move(*costs),
              .sentence =
                  "let thread i add element i + n / 2 to element i, and halve n, instead of doubling the "
                  "distance of elements; sums of floats are then rounded otherwise"};
}

}  // namespace

void add_sequential_addressing(const Evidence& evidence, Cures& cures) {
  for (const ArrayFit& array : evidence.arrays) {
    if (auto cure = sequential_addressing(evidence, array)) cures.push_back(std::move(*cure));
  }
}

}  // namespace bankwise::fit
