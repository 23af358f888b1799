// Single-pass kernels with few resident blocks: most of their blocks start after others have ended, and blocks that
// wait for others occupy the multiprocessors that these need. CUDA only: kernels of two APIs alternate on a device.
#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <iterator>

#include "bare_launch.hpp"
#include "devices_under_test.hpp"
#include "mutated_study.hpp"
#include "occupy.hpp"
#include "tests/case_studies.hpp"

using namespace bankwise;
using namespace bankwise::study;

namespace {

struct Starved {
  Law law;
  const CaseStudy* study;
  const Variant* variant;
};

/// Multiprocessors that are left free, and the number of blocks that may be resident on one of them; 0: as many as fit.
struct Room {
  unsigned units, resident;
};
constexpr Room rooms[]{{1, 1}, {1, 2}, {1, 0}, {2, 1}, {9, 0}};

/// The kernel that occupies a device is a CUDA kernel.
std::vector<gpu::DeviceInfo> cuda_devices_under_test() {
  std::vector<gpu::DeviceInfo> found;
  std::ranges::copy_if(devices_under_test(), std::back_inserter(found),
                       [](auto& d) { return d.api == gpu::Api::cuda; });
  return found;
}

/// Several launches in each room, of sizes up to 600 tiles, in the plan's own grid or in one of `blocks`.
void starve(const gpu::DeviceInfo& device, gpu::Session& session, const Starved& starved, std::uint64_t blocks = 0) {
  const auto& [law, study, variant] = starved;
  const std::uint64_t tile = variant->tile, max_n = 600 * tile + 123;
  const auto plan_for = [&, study = study, variant = variant](std::uint64_t n, unsigned resident) {
    Plan plan = study->plan(*variant, {1, n}, device.compute_units);
    auto& launch = std::get<KernelLaunch>(plan.steps.front());
    if (blocks != 0) launch.groups = std::min(blocks, tiles(n, tile, 1));
    unsigned& shared = launch.group.dynamic_shared;
    if (resident != 0) shared = std::max(shared, shared_per_block(resident, device));
    return plan;
  };
  const Plan largest = plan_for(max_n, 0);
  const Memory memory = memory_for(session, *study, {1, max_n}, largest, words_beyond);
  TelescopingSum formula(session);
  formula.poison(memory);
  std::uint64_t run = 0;
  const auto launch_checked = [&, law = law, study = study](std::uint64_t n, unsigned resident) {
    formula.fill(law, memory, {1, n}, run);
    launch(session, *study, plan_for(n, resident), memory);
    formula.check(law, memory, {1, n}, run, words_beyond, run);
    ++run;
  };

  for (const Room room : rooms) {
    prepare(session, *study, plan_for(max_n, room.resident));
    launch_checked(max_n, room.resident);  // on the free device, to load the code
    REQUIRE(formula.verdict() == "");
    const OccupiedDevice occupied(device, room.units);
    const unsigned max_resident = occupied.max_resident(plan_for(max_n, room.resident).launches().front().group);
    for (const std::uint64_t n : {max_n, tile - 1, 3 * tile + 5, std::uint64_t{1}, 100 * tile + 7, max_n, max_n}) {
      launch_checked(n, room.resident);
    }
    const std::string verdict = formula.verdict();
    const bool stayed_occupied = occupied.is_occupied();
    const std::string where = fmt::format("{}: {}, {} blocks, at most {} resident", device.name, variant->name,
                                          plan_for(max_n, room.resident).launches().front().groups, max_resident);
    std::cout << where << '\n';
    INFO(where);
    CHECK(verdict == "");
    CHECK(stayed_occupied);  // otherwise there was more room than that
    CHECK(max_resident >= 1);
    if (room.resident != 0) CHECK(max_resident <= room.units * room.resident);
  }
}

}  // namespace

TEST_CASE("device/starved/single_pass", "[starved]") {
  for (const auto& device : cuda_devices_under_test()) {
    const auto session = gpu::open(device);
    for (const Law& law : laws()) {
      for (const Variant& variant : law.study->variants) {
        if (!variant.single_pass || !runs_on(*session, *law.study, variant)) continue;
        starve(device, *session, {law, law.study, &variant});
      }
    }
  }
}

TEST_CASE("device/starved/poll_limit", "[starved]") {
  for (const auto& device : cuda_devices_under_test()) {
    const auto session = gpu::open(device);
    for (const std::string& name : survived_mutations(gpu::Api::cuda)) {
      const MutatedStudy hard(name);
      INFO(name);
      if (runs_on(*session, hard.study(), hard.variant())) {
        starve(device, *session, {law_of(hard.sound()), &hard.study(), &hard.variant()});
      }
    }
  }
}

TEST_CASE("device/starved/any_grid", "[starved]") {
  for (const auto& device : cuda_devices_under_test()) {
    const auto session = gpu::open(device);
    int variants = 0;
    for (const Law& law : laws()) {
      for (const std::string name : facts(*law.study).value("any_grid", nlohmann::json::array())) {
        ++variants;
        const Variant& variant = variant_of(*law.study, name);
        if (!runs_on(*session, *law.study, variant)) continue;
        for (const std::uint64_t blocks : {1, 2, 500}) starve(device, *session, {law, law.study, &variant}, blocks);
      }
    }
    CHECK(variants > 0);
  }
}
