// SPDX-License-Identifier: MIT
#include "soak.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>

namespace bankwise {
namespace {

constexpr std::uint64_t beyond = 64;             // words past the end of a result that must not change
constexpr std::uint64_t launches_at_once = 250;  // enqueued between two checks

/// Sizes at which index arithmetic breaks, primes, and equally many random ones: most of them small, some of `most`
/// tiles.
std::vector<std::uint64_t> sizes(std::uint64_t tile, std::uint64_t max_tiles) {
  const std::uint64_t most = tile * max_tiles;
  std::vector<std::uint64_t> list{0, 1, 2, 3, 5, 31, 127, 1009, 4099, 65537, 104729, most - 1, most};
  for (const std::uint64_t tiles : {1, 2, 3, 4, 32, 33, 128, 129}) {
    for (const std::uint64_t n : {tiles * tile - 1, tiles * tile, tiles * tile + 1}) list.push_back(n);
  }
  for (std::uint64_t i = 0; i < 64; ++i) {
    const std::uint64_t up_to = most >> hashed_word(2 * i) % 8;
    list.push_back(hashed_word(2 * i + 1) % (up_to + 1));
  }
  std::erase_if(list, [&](std::uint64_t n) { return n > most; });
  return list;
}

}  // namespace

Soak soak_for(const gpu::DeviceInfo& device) { return device.is_gpu ? Soak{10000, 1000} : Soak{300, 20}; }

std::string soak(gpu::Session& session, const Law& law, const CaseStudy& study, const Variant& variant, Soak how,
                 std::uint64_t blocks) {
  const auto plan_for = [&](std::uint64_t n) {
    Plan plan = study.plan(variant, {1, n}, session.info().compute_units);
    if (blocks != 0) std::get<KernelLaunch>(plan.steps.front()).groups = std::min(blocks, tiles(n, variant.tile, 1));
    return plan;
  };
  const std::vector<std::uint64_t> list = sizes(variant.tile, how.max_tiles);
  const std::uint64_t most = *std::max_element(list.begin(), list.end());
  const Plan largest = plan_for(most);
  prepare(session, study, largest);
  const Memory memory = memory_for(session, study, {1, most}, largest, beyond);
  TelescopingSum formula(session);
  formula.poison(memory);

  std::uint64_t elements = 0;
  for (std::uint64_t run = 0; run < how.launches; ++run) {
    const Extent extent{1, list[hashed_word(run) % list.size()]};
    formula.fill(law, memory, extent, run);
    launch(session, study, plan_for(extent.width), memory);
    formula.check(law, memory, extent, run, beyond, run);
    elements += extent.width;
    if (run % launches_at_once != launches_at_once - 1) continue;
    if (std::string wrong = formula.verdict(); !wrong.empty()) return wrong;
  }
  std::cout << fmt::format("{} {}: {} of {}, {} launches of 0 to {} {}, {} in all\n", to_string(session.info().api),
                           session.info().name, study.name, variant.name, how.launches, most, study.element, elements);
  return formula.verdict();
}

}  // namespace bankwise
