// SPDX-License-Identifier: MIT
//
// Kernels broken on purpose: verification must detect it, and report the fault. OpenCL only, because both APIs share
// the code of the checks.
#include <bankwise/bench/workbench.hpp>
#include "devices_under_test.hpp"
#include "mutated_study.hpp"
#include "tests/case_studies.hpp"
#include "tests/catch_any.hpp"

using namespace bankwise;

namespace {

std::string verdict_of(const CaseStudy& study, const Variant& variant, const gpu::DeviceInfo& device, Extent extent) {
  const auto session = gpu::open(device);
  Workbench bench(study, extent, *session);
  return bench.verify(bench.prepare(variant, Scope::memory));
}

/// The verification's report on the broken kernel. The intact one must pass on the same problem.
std::string verdict(const MutatedStudy& broken, const gpu::DeviceInfo& device, Extent extent) {
  CHECK(verdict_of(broken.sound(), broken.variant(), device, extent) == "");
  return verdict_of(broken.study(), broken.variant(), device, extent);
}

}  // namespace

TEST_CASE("device/negative/missing_element", "[negative]") {
  const MutatedStudy broken("last_element_dropped");
  for (const auto& device : devices_under_test()) {
    CHECK(verdict(broken, device, {1, 1000}).find("output word 0 is") == 0);
  }
}

TEST_CASE("device/negative/past_the_end", "[negative]") {
  const MutatedStudy broken("one_past_the_end");
  for (const auto& device : devices_under_test()) {
    CHECK(verdict(broken, device, {1, 511}) == "word 0 past the end of the output was overwritten");
  }
}

TEST_CASE("device/negative/nan", "[negative]") {
  const MutatedStudy broken("writes_nan");
  for (const auto& device : devices_under_test()) {
    CHECK(verdict(broken, device, {33, 31}).find("output word 0 is 0x7fc00000") == 0);
  }
}

TEST_CASE("device/negative/changed_input", "[negative]") {
  const MutatedStudy broken("changes_its_input");
  for (const auto& device : devices_under_test()) {
    CHECK(verdict(broken, device, {1, 500}).find("input word 0 is") == 0);
  }
}

TEST_CASE("device/negative/stale_output", "[negative]") {
  // On one workbench the intact naive kernel fills the output; the broken packed one then writes nothing.
  const MutatedStudy broken("writes_nothing");
  for (const auto& device : devices_under_test()) {
    const auto session = gpu::open(device);
    Workbench bench(broken.study(), {1, 200}, *session);
    CHECK(bench.verify(bench.prepare(variant_of(broken.study(), "naive"), Scope::memory)) == "");
    CHECK(bench.verify(bench.prepare(variant_of(broken.study(), "packed"), Scope::memory))
              .find("output word 0 is 0xcdcdcdcd") == 0);
  }
}
