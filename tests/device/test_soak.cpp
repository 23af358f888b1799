// SPDX-License-Identifier: MIT
//
// Single-pass kernels, whose blocks communicate through a state that no launch clears: thousands of launches.
#include <algorithm>
#include <array>
#include <iostream>

#include "devices_under_test.hpp"
#include "mutated_study.hpp"
#include "soak.hpp"
#include "tests/case_studies.hpp"
#include "tests/catch_any.hpp"

using namespace bankwise;

TEST_CASE("device/soak/any_order", "[soak]") {
  for (const auto& device : devices_under_test()) {
    const auto session = gpu::open(device);
    for (const Law& law : laws()) {
      for (const Variant& variant : law.study->variants) {
        if (!variant.single_pass || !runs_on(*session, *law.study, variant)) continue;
        INFO(to_string(device.api) << " " << device.name << ": " << variant.name);
        Soak how = soak_for(device);
        if (law.total) how.max_tiles *= 4;  // more than one iteration for persistent blocks
        CHECK(soak(*session, law, *law.study, variant, how) == "");
      }
    }
  }
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
  for (const auto& device : devices_under_test()) {
    const auto session = gpu::open(device);
    int variants = 0;
    for (const Law& law : laws()) {
      for (const std::string name : facts(*law.study).value("any_grid", nlohmann::json::array())) {
        ++variants;
        const Variant& variant = variant_of(*law.study, name);
        if (!runs_on(*session, *law.study, variant)) continue;
        for (const std::uint64_t blocks :
             std::array<std::uint64_t, 6>{1, 2, 7, device.compute_units + 1, 3 * device.compute_units, 1000}) {
          INFO(device.name << ": " << name << ", " << blocks << " blocks");
          std::cout << blocks << " blocks: ";
          CHECK(soak(*session, law, *law.study, variant, {200, 1000}, blocks) == "");
        }
      }
    }
    CHECK(variants > 0);
  }
}

namespace {

/// A scan of three tiles, twice, alone on a device, with a change to its result in between.
std::string twice(const gpu::DeviceInfo& device, const CaseStudy& study, const Variant& variant,
                  const std::function<void(gpu::Session&, const Memory&)>& then) {
  constexpr std::uint64_t beyond = 64;
  const auto session = gpu::open(device);
  const Extent extent{1, 3 * variant.tile - 5}, room{1, 20 * variant.tile};
  const Plan plan = study.plan(variant, extent, device.compute_units);
  prepare(*session, study, plan);
  const Memory memory = memory_for(*session, study, room, study.plan(variant, room, device.compute_units), beyond);
  TelescopingSum formula(*session);
  formula.poison(memory);
  for (std::uint64_t run = 0; run < 2; ++run) {
    formula.fill(law_of(study), memory, extent, run);
    launch(*session, study, plan, memory);
    then(*session, memory);
    formula.check(law_of(study), memory, extent, run, beyond, run);
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
