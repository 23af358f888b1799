// Single-pass kernels, whose blocks communicate through a state that no launch clears: thousands of launches.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iostream>

#include "bare_launch.hpp"
#include "devices_under_test.hpp"
#include "mutated_study.hpp"
#include "tests/case_studies.hpp"

using namespace bankwise;
using namespace bankwise::study;

namespace {

/// How many launches, and of how many tiles at most.
struct Soak {
  std::uint64_t launches, max_tiles;
};

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

/// Sufficient for a device of this kind; a CPU is slower by orders of magnitude.
Soak soak_for(const gpu::DeviceInfo& device) { return device.is_gpu ? Soak{10000, 1000} : Soak{300, 20}; }

/// Launches a single-pass kernel repeatedly, all on one state: sizes at which index arithmetic breaks and random sizes,
/// in a random but reproducible order. Each launch has a different input, so data of an earlier launch is wrong in any
/// later one. Each result is checked, up to `beyond` words past its end. Prints a summary on stdout. Empty if all was
/// right, otherwise one line. `blocks`: instead of the plans' number.
std::string soak(gpu::Session& session, const Law& law, const CaseStudy& study, const Variant& variant, Soak how,
                 std::uint64_t blocks = 0) {
  const auto plan_for = [&](std::uint64_t n) {
    Plan plan = study.plan(variant, {1, n}, session.info().compute_units);
    if (blocks != 0) std::get<KernelLaunch>(plan.steps.front()).groups = std::min(blocks, tiles(n, variant.tile, 1));
    return plan;
  };
  const std::vector<std::uint64_t> list = sizes(variant.tile, how.max_tiles);
  const std::uint64_t most = *std::max_element(list.begin(), list.end());
  const Plan largest = plan_for(most);
  prepare(session, study, largest);
  const Memory memory = memory_for(session, study, {1, most}, largest, words_beyond);
  TelescopingSum formula(session);
  formula.poison(memory);

  std::uint64_t elements = 0;
  for (std::uint64_t run = 0; run < how.launches; ++run) {
    const Extent extent{1, list[hashed_word(run) % list.size()]};
    formula.fill(law, memory, extent, run);
    launch(session, study, plan_for(extent.width), memory);
    formula.check(law, memory, extent, run, words_beyond, run);
    elements += extent.width;
    if (run % launches_at_once != launches_at_once - 1) continue;
    if (std::string wrong = formula.verdict(); !wrong.empty()) return wrong;
  }
  std::cout << fmt::format("{} {}: {} of {}, {} launches of 0 to {} {}, {} in all\n", to_string(session.info().api),
                           session.info().name, study.name, variant.name, how.launches, most, study.element, elements);
  return formula.verdict();
}

}  // namespace

TEST_CASE("device/soak/any_order", "[soak]") {
  on_each_device([](gpu::Session& session) {
    for (const Law& law : laws()) {
      for (const Variant& variant : law.study->variants) {
        if (!variant.single_pass || !runs_on(session, *law.study, variant)) continue;
        INFO(variant.name);
        Soak how = soak_for(session.info());
        if (law.total) how.max_tiles *= 4;  // more than one iteration for persistent blocks
        CHECK(soak(session, law, *law.study, variant, how) == "");
      }
    }
  });
}

// With a poll limit of 1, waiting blocks give up immediately; later blocks have to add up tiles that never publish.
TEST_CASE("device/soak/poll_limit", "[soak]") {
  for (const auto& device : devices_under_test()) {
    for (const std::string& name : survived_mutations(device.api)) {
      const MutatedStudy hard(name);
      const auto session = gpu::open(device);  // a session that has not built another kernel of this name
      if (!runs_on(*session, hard.study(), hard.variant())) continue;
      INFO(to_string(device.api) << " " << device.name << ": " << name);
      Soak some = soak_for(device);
      some.launches /= 10;
      std::cout << name << ": ";
      CHECK(soak(*session, law_of(hard.sound()), hard.study(), hard.variant(), some) == "");
    }
  }
}

// A kernel with persistent blocks is fastest with as many as are resident, but any number must work, including more,
// some of which start when no tile is left.
TEST_CASE("device/soak/any_grid", "[soak]") {
  on_each_device([](gpu::Session& session) {
    const std::uint64_t units = session.info().compute_units;
    int variants = 0;
    for (const Law& law : laws()) {
      for (const std::string name : facts(*law.study).value("any_grid", nlohmann::json::array())) {
        ++variants;
        const Variant& variant = variant_of(*law.study, name);
        if (!runs_on(session, *law.study, variant)) continue;
        for (const std::uint64_t blocks : std::array<std::uint64_t, 6>{1, 2, 7, units + 1, 3 * units, 1000}) {
          INFO(name << ", " << blocks << " blocks");
          std::cout << blocks << " blocks: ";
          CHECK(soak(session, law, *law.study, variant, {200, 1000}, blocks) == "");
        }
      }
    }
    CHECK(variants > 0);
  });
}

namespace {

/// A scan of three tiles, twice, alone on a device, with a change to its result in between.
std::string twice(const gpu::DeviceInfo& device, const CaseStudy& study, const Variant& variant,
                  const std::function<void(gpu::Session&, const Memory&)>& then) {
  const auto session = gpu::open(device);
  const Extent extent{1, 3 * variant.tile - 5}, room{1, 20 * variant.tile};
  const Plan plan = study.plan(variant, extent, device.compute_units);
  prepare(*session, study, plan);
  const Memory memory =
      memory_for(*session, study, room, study.plan(variant, room, device.compute_units), words_beyond);
  TelescopingSum formula(*session);
  formula.poison(memory);
  for (std::uint64_t run = 0; run < 2; ++run) {
    formula.fill(law_of(study), memory, extent, run);
    launch(*session, study, plan, memory);
    then(*session, memory);
    formula.check(law_of(study), memory, extent, run, words_beyond, run);
  }
  return formula.verdict();
}

}  // namespace

TEST_CASE("device/soak/checks_find_faults", "[negative]") {
  const MutatedStudy broken("tickets_run_on");
  const std::uint64_t n = 3 * broken.variant().tile - 5;
  const auto scribble_at = [](std::uint64_t word) {
    return [word](gpu::Session& session, const Memory& memory) {
      const std::uint32_t scribble = 7;
      session.write(memory.at(output_slot), 4 * word, std::as_bytes(std::span(&scribble, 1)));
    };
  };
  const auto nothing = [](gpu::Session&, const Memory&) {};
  const auto starts_with = [](const std::string& text) { return Catch::Matchers::StartsWith(text); };
  for (const auto& device : devices_under_test()) {
    CHECK(twice(device, broken.sound(), broken.variant(), nothing) == "");
    for (const std::uint64_t word : {std::uint64_t{0}, n / 2, n - 1, n, n + 63}) {
      INFO(word);
      CHECK_THAT(twice(device, broken.sound(), broken.variant(), scribble_at(word)),
                 starts_with("2 words wrong; first in run 0: word " + std::to_string(word) + " is 0x00000007"));
    }
    CHECK(twice(device, broken.sound(), broken.variant(), scribble_at(n + 64)) == "");
    CHECK_THAT(twice(device, broken.study(), broken.variant(), nothing),
               starts_with(std::to_string(n) + " words wrong; first in run 1: word "));
  }
}
