// SPDX-License-Identifier: MIT
//
// Single passes with hardly any room: most of their blocks come when others have gone, and those that wait for others
// do so where these would have to run. CUDA alone: kernels of two APIs take turns on a device and do not share it.
#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <iterator>

#include "devices_under_test.hpp"
#include "mutated_study.hpp"
#include "occupy.hpp"
#include "telescoping_sum.hpp"
#include "tests/catch_any.hpp"

using namespace bankwise;

namespace {

struct Starved {
  const Law* law;
  const CaseStudy* study;
  const Variant* variant;
};

/// Multiprocessors that a occupier leaves, and how many blocks at a time fit on one of them; 0: as many as fit by themselves.
struct Room {
  unsigned units, at_once;
};
constexpr Room rooms[]{{1, 1}, {1, 2}, {1, 0}, {2, 1}, {9, 0}};

/// The occupier is a CUDA kernel.
std::vector<gpu::DeviceInfo> cuda_devices_under_test() {
  std::vector<gpu::DeviceInfo> found;
  std::ranges::copy_if(devices_under_test(), std::back_inserter(found),
                       [](auto& d) { return d.api == gpu::Api::cuda; });
  return found;
}

constexpr std::uint64_t beyond = 64;  // words behind a result that must stay as they are

/// Several launches in each room, of sizes up to 600 tiles, in the plan's own grid or in one of `blocks`.
void starve(const gpu::DeviceInfo& device, gpu::Session& session, const Starved& starved, std::uint64_t blocks = 0) {
  const auto& [law, study, variant] = starved;
  const std::uint64_t tile = variant->tile, most = 600 * tile + 123;
  const auto plan_for = [&, study = study, variant = variant](std::uint64_t n, unsigned at_once) {
    Plan plan = study->plan(*variant, {1, n}, device.compute_units);
    Launch& launch = plan.launches.front();
    if (blocks != 0) launch.groups = std::min(blocks, tiles(n, tile, 1));
    unsigned& shared = launch.group.dynamic_shared;
    if (at_once != 0) shared = std::max(shared, shared_of_one_in(at_once, device));
    return plan;
  };
  const Plan largest = plan_for(most, 0);
  const Memory memory = memory_for(session, *study, {1, most}, largest, beyond);
  TelescopingSum telescoping_sum(session);
  telescoping_sum.poison(memory);
  std::uint64_t run = 0;
  const auto launch_checked = [&, law = law, study = study](std::uint64_t n, unsigned at_once) {
    telescoping_sum.fill(*law, memory, {1, n}, run);
    launch(session, *study, plan_for(n, at_once), memory);
    telescoping_sum.check(*law, memory, {1, n}, run, beyond, run);
    ++run;
  };

  for (const Room room : rooms) {
    prepare(session, *study, plan_for(most, room.at_once));
    launch_checked(most, room.at_once);  // with all the room there is: from here on all code is there
    REQUIRE(telescoping_sum.verdict() == "");
    const Occupier occupier(device, room.units);
    const unsigned max_at_once = occupier.max_at_once(plan_for(most, room.at_once).launches.front().group);
    for (const std::uint64_t n : {most, tile - 1, 3 * tile + 5, std::uint64_t{1}, 100 * tile + 7, most, most}) {
      launch_checked(n, room.at_once);
    }
    const std::string verdict = telescoping_sum.verdict();
    const bool was_whole = occupier.is_whole();
    const std::string where = fmt::format("{}: {}, {} blocks, at most {} at a time", device.name, variant->name,
                                          plan_for(most, room.at_once).launches.front().groups, max_at_once);
    std::cout << where << '\n';
    INFO(where);
    CHECK(verdict == "");
    CHECK(was_whole);  // or there was more room than that
    CHECK(max_at_once >= 1);
    if (room.at_once != 0) CHECK(max_at_once <= room.units * room.at_once);
  }
}

}  // namespace

TEST_CASE("single passes end and are right with room for one block, or a few, at a time", "[starved]") {
  for (const auto& device : cuda_devices_under_test()) {
    const auto session = gpu::open(device);
    for (const Law* law : {&prefix_sum_law, &reduction_law}) {
      for (const Variant& variant : law->study->variants) {
        if (!variant.single_pass || !runs_on(*session, *law->study, variant)) continue;
        starve(device, *session, {law, law->study, &variant});
      }
    }
  }
}

TEST_CASE("scans that give up polling at once, and with silent tiles, end and are right with hardly any room",
          "[starved]") {
  for (const auto& device : cuda_devices_under_test()) {
    const auto session = gpu::open(device);
    for (const char* name : {"never_waits", "silent_tiles", "ring_never_waits", "ring_silent_tiles"}) {
      const MutatedStudy hard(name);
      INFO(name);
      if (runs_on(*session, hard.study(), hard.variant())) {
        starve(device, *session, {&prefix_sum_law, &hard.study(), &hard.variant()});
      }
    }
  }
}

TEST_CASE("the ring ends and is right in any grid with hardly any room", "[starved]") {
  for (const auto& device : cuda_devices_under_test()) {
    const auto session = gpu::open(device);
    const CaseStudy& study = *prefix_sum_law.study;
    for (const Variant& variant : study.variants) {
      if (variant.name != "ring" || !runs_on(*session, study, variant)) continue;
      for (const std::uint64_t blocks : {1, 2, 500})
        starve(device, *session, {&prefix_sum_law, &study, &variant}, blocks);
    }
  }
}
