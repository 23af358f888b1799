// A proof about sums in a tree: interleaved addressing, `sums[2 * s * i] += sums[2 * s * i + s]` for s = 1, 2, 4, ...
#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "bankcheck/fit/compiled_accesses.hpp"
#include "bankcheck/fit/fit.hpp"

namespace bankwise::fit {
namespace {

using Elements = std::vector<trace::Pattern>;

/// The steps of a tree, with the bytes between their lanes. Between barriers, levels tell them apart; a trace without
/// levels, of machine code, has only the bytes.
struct Tree {
  bool has_levels = false;
  std::map<std::int64_t, std::int64_t> steps;

  std::optional<std::int64_t> key_of(const trace::Pattern& pattern) const {
    if (has_levels) return pattern.level;
    const auto lanes = lane_stride(pattern);
    return lanes ? std::optional(lanes->bytes) : std::nullopt;
  }
  /// Whether lanes of the access make a step. Those of a single lane cost what they do in any order.
  bool is_step(const trace::Pattern& pattern) const {
    const auto key = key_of(pattern);
    return key && steps.contains(*key) && std::popcount(pattern.mask) > 1;
  }
  bool comes_before(const trace::Pattern& pattern) const {
    const auto key = key_of(pattern);
    // Without levels a load of neighbours may come behind the tree.
    return key && *key < steps.begin()->first && (has_levels || pattern.operation == banks::Operation::store);
  }
};

/// The steps whose lanes are 2, 4, 8, ... elements apart.
Tree tree_of(const Elements& patterns, bool has_levels) {
  Tree tree{has_levels, {}};
  for (const trace::Pattern& pattern : patterns) {
    const auto lanes = lane_stride(pattern);
    const bool is_step = lanes && lanes->bytes >= 2 * std::int64_t{pattern.width};
    if (is_step) tree.steps.try_emplace(*tree.key_of(pattern), lanes->bytes);
  }
  return tree;
}

bool double_from(const Tree& tree, std::int64_t stride) {
  return std::ranges::all_of(tree.steps,
                             [&](const auto& step) { return step.second == std::exchange(stride, 2 * stride); });
}

/// Whether an access is of elements 0, 1, 2, ... of the array in strides, or of those in the middle between them.
bool is_in_tree(const trace::Pattern& pattern, std::int64_t offset, std::int64_t stride) {
  const auto lanes = lane_stride(pattern);
  return lanes && lanes->bytes == stride && (lanes->begin - offset) % (stride / 2) == 0;
}

/// Whether an access belongs to the tree, or comes before it. A single lane makes the last steps, and loads the sum.
bool belongs_to(const Tree& tree, const trace::Pattern& pattern, std::int64_t offset) {
  if (tree.comes_before(pattern)) return true;
  if (std::popcount(pattern.mask) > 1) {
    return tree.is_step(pattern) && is_in_tree(pattern, offset, tree.steps.at(*tree.key_of(pattern)));
  }
  const std::int64_t at = pattern.addresses[std::size_t(std::countr_zero(pattern.mask))] - offset;
  const auto step = tree.has_levels ? tree.steps.find(pattern.level) : tree.steps.end();
  return at % (step != tree.steps.end() ? step->second / 2 : tree.steps.rbegin()->second) == 0;
}

/// Bytes of the elements that the first step adds, if it adds all up to this one.
std::uint64_t bytes_added(const Tree& tree, const Elements& patterns, std::int64_t offset) {
  std::uint64_t bytes = 0;
  for (const trace::Pattern& pattern : patterns) {
    if (tree.key_of(pattern) != tree.steps.begin()->first) continue;
    banks::for_each_lane(pattern.mask, [&](unsigned lane) {
      bytes = std::max(bytes, std::uint64_t(pattern.addresses[lane] - offset + pattern.width));
    });
  }
  return bytes;
}

/// Each element alone: the first step's are neighbours, which a compiler loads at once.
Elements single_elements(const Patterns& patterns, unsigned width) {
  Elements parts;
  for (const trace::Pattern* pattern : patterns) add_parts(*pattern, width, parts);
  return parts;
}

const Change neighbours{.swizzle = {}, .pads = {}, .rows = {}, .sequential = true};

}  // namespace

Cures sequential_addressing(const Evidence& evidence, const Patterns& patterns, const ArrayFit* array) {
  constexpr std::size_t fewest_steps = 3;
  if (!has_whole_warps(evidence)) return {};
  const unsigned width = (*std::ranges::min_element(patterns, {}, &trace::Pattern::width))->width;
  const Elements elements = single_elements(patterns, width);
  const Tree tree = tree_of(elements, evidence.trace.levels > 1);
  if (tree.steps.size() < fewest_steps) return {};
  const std::uint32_t offset = evidence.trace.arrays[array->arrays.front()].offset;
  // The last step of several lanes has two. Of another number of elements, halves would not meet.
  const bool is_power_of_two = bytes_added(tree, elements, offset) == 2 * std::uint64_t(tree.steps.rbegin()->second);
  const bool is_tree = is_power_of_two && double_from(tree, 2 * std::int64_t{width}) &&
                       std::ranges::all_of(elements, [&](const trace::Pattern& element) {
                         return element.width == width && belongs_to(tree, element, offset);
                       });
  if (!is_tree) return {};
  Costs before(evidence), after(evidence);
  std::set<std::uint32_t> sites;
  Patterns changed;
  for (const trace::Pattern* pattern : patterns) {
    const Elements parts = single_elements({pattern}, width);
    if (tree.is_step(parts.front())) before.add_passes(*pattern);
  }
  std::set<std::pair<std::int64_t, std::int64_t>> operands;  // by step
  for (const trace::Pattern& element : elements) {
    if (!tree.is_step(element)) continue;
    trace::Pattern moved = element;
    move_lanes(neighbours, offset, moved.mask, moved.width, moved.addresses);
    after.add_passes(moved);
    changed.push_back(&element);
    sites.insert(element.site);
    if (element.operation != banks::Operation::load) continue;
    const std::int64_t key = *tree.key_of(element);
    operands.insert({key, (lane_stride(element)->begin - offset) % tree.steps.at(key)});
  }
  auto costs = before.until(after);
  const bool are_pairs = operands.size() == 2 * tree.steps.size();
  if (!costs || !are_pairs || !beats_layout(evidence, *array, changed, *costs, true)) return {};
  return {{.sites = places_of(evidence.trace, sites),
           .costs = std::move(*costs),
           .sentence = "let thread i add element i + n / 2 to element i, and halve n, instead of doubling the "
                       "distance of elements; sums of floats are then rounded otherwise"}};
}

void choose_sequential(ArrayFit& array, const Cure& cure) {
  PricedOption sequential = array.before();
  Option& option = sequential.option;
  option.change = neighbours;
  option.passes = 0;
  for (std::size_t a = 0; a < cure.costs.size(); ++a) {
    option.passes += sequential.passes[a] -= cure.costs[a].before - cure.costs[a].after;
  }
  option.cycles = cycles_of(option, array.facts.executions);
  sequential.prediction = {sequential.passes, sequential.passes, false};
  array.chosen = array.options.size();
  if (option.passes <= array.options[array.best].option.passes) array.best = array.chosen;
  array.verdict = option.passes <= array.bound ? FitVerdict::removed : FitVerdict::reduced;
  array.parted = 0;
  array.options.push_back(std::move(sequential));
}

void make_sequential(trace::KernelTrace& trace, std::uint32_t array) {
  Patterns patterns;
  for (const std::uint32_t number : patterns_of(trace, {array})) patterns.push_back(&trace.patterns[number]);
  if (patterns.empty()) return;
  const unsigned width = (*std::ranges::min_element(patterns, {}, &trace::Pattern::width))->width;
  const Tree tree = tree_of(single_elements(patterns, width), trace.levels > 1);
  trace = split_accesses(std::move(trace), {array}, width);
  for (const std::uint32_t number : patterns_of(trace, {array})) {
    trace::Pattern& pattern = trace.patterns[number];
    if (!tree.is_step(pattern)) continue;
    move_lanes(neighbours, trace.arrays[array].offset, pattern.mask, pattern.width, pattern.addresses);
  }
}

}  // namespace bankwise::fit
