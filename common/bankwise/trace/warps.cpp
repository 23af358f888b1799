// SPDX-License-Identifier: MIT
#include <bankwise/trace/warps.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

namespace bankwise::trace {
namespace {

using banks::Access;
using banks::Architecture;
using banks::Cost;
using banks::Operation;

std::optional<Cost> cost_of(const Architecture& architecture, Access access, Operation operation, std::uint64_t mask) {
  access.operation = operation;
  access.mask = mask;
  const auto answer = banks::cost(architecture, access);
  const auto* cost = std::get_if<Cost>(&answer);
  return cost == nullptr ? std::nullopt : std::optional(*cost);
}

/// The passes of a compare-and-swap, at most: 8 bytes count as two words.
std::optional<unsigned> max_passes_of_swap(const Architecture& architecture, const Access& access) {
  unsigned passes = 0;
  for (std::uint32_t word = 0; word < access.width; word += 4) {
    std::vector<std::uint32_t> addresses(access.addresses.begin(), access.addresses.end());
    for (std::uint32_t& address : addresses) address += word;
    const auto cost =
        cost_of(architecture, {access.operation, 4, access.mask, addresses}, Operation::atomic_cas, access.mask);
    if (!cost) return std::nullopt;
    passes += cost->passes;
  }
  return passes;
}

}  // namespace

std::optional<LoopCost> loop_cost(const Architecture& architecture, Operation operation, const Access& access,
                                  unsigned block_warps) {
  if (block_warps == 0 || operation != Operation::atomic) return std::nullopt;
  if (!architecture.name.starts_with("sm_"))
    return std::nullopt;  // AMD's and Intel's compilers make other loops, or none
  // In each round, one lane of each word is done.
  std::vector<std::uint64_t> rounds;
  std::array<unsigned, banks::max_lanes> before{};  // lanes of the same word with lower numbers
  banks::for_each_lane(access.mask, [&](unsigned lane) {
    banks::for_each_lane(access.mask & ((std::uint64_t{1} << lane) - 1), [&](unsigned other) {
      before[lane] += access.addresses[other] == access.addresses[lane] ? 1 : 0;
    });
    if (before[lane] >= rounds.size()) rounds.resize(before[lane] + 1);
    for (unsigned round = 0; round <= before[lane]; ++round) rounds[round] |= std::uint64_t{1} << lane;
  });
  unsigned least = 0;
  for (const std::uint64_t mask : rounds) {
    const auto load = cost_of(architecture, access, Operation::load, mask);
    const auto swap = cost_of(architecture, access, Operation::store, mask);
    if (!load || !swap) return std::nullopt;
    least += load->passes + swap->passes;
  }
  const auto load = cost_of(architecture, access, Operation::load, access.mask);
  const auto store = cost_of(architecture, access, Operation::store, access.mask);
  const auto swap = max_passes_of_swap(architecture, access);
  if (!load || !store || !swap) return std::nullopt;
  LoopCost loop;
  loop.least.passes = least;
  loop.least.ideal = load->ideal + store->ideal;
  loop.least.conflicts = least - loop.least.ideal;
  const unsigned worst = block_warps * unsigned(rounds.size()) * (load->passes + *swap);
  loop.more_passes = loop.more_conflicts = std::max(worst, least) - least;
  return loop;
}

void find_cost(const Architecture& architecture, const Pattern& pattern, unsigned block_warps, WarpAccess& access) {
  if (pattern.is_loop) {
    const auto loop = loop_cost(architecture, pattern.operation, access.access, block_warps);
    if (loop) {
      access.answer = loop->least;
      access.more_passes = loop->more_passes;
      access.more_conflicts = loop->more_conflicts;
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
