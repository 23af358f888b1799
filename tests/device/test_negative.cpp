// Kernels broken on purpose: verification must detect it, and report the fault. OpenCL only, because both APIs share
// the code of the checks.
#include <bankwise/bench/workbench.hpp>
#include "devices_under_test.hpp"
#include "mutated_study.hpp"
#include "tests/case_studies.hpp"

using namespace bankwise;
using namespace bankwise::study;
using namespace bankwise::bench;

namespace {

std::string verdict_of(const CaseStudy& study, const Variant& variant, const gpu::DeviceInfo& device, Extent extent) {
  const auto session = gpu::open(device);
  Workbench bench(study, extent, *session);
  return bench.verify(bench.prepare(variant, Scope::memory));
}

}  // namespace

TEST_CASE("device/negative/reports", "[negative]") {
  const auto [mutation, extent, report] = GENERATE(table<const char*, Extent, std::string>({
      {"last_element_dropped", {1, 1000}, "output word 0 is"},
      {"one_past_the_end", {1, 511}, "word 0 past the end of the output was overwritten"},
      {"writes_nan", {33, 31}, "output word 0 is 0x7fc00000"},
      {"changes_its_input", {1, 500}, "input word 0 is"},
  }));
  const MutatedStudy broken(mutation);
  for (const auto& device : devices_under_test()) {
    INFO(mutation);
    CHECK(verdict_of(broken.sound(), broken.variant(), device, extent) == "");
    CHECK_THAT(verdict_of(broken.study(), broken.variant(), device, extent), Catch::Matchers::StartsWith(report));
  }
}

TEST_CASE("device/negative/absent_kernel", "[negative]") {
  CaseStudy study = reduction::case_study();
  study.plan = [](const Variant&, Extent, unsigned) {
    return Plan{{}, {KernelLaunch{"absent", 1, {32, 1}, {input_slot}}}};
  };
  on_each_device([&](gpu::Session& session) {
    Workbench bench(study, {1, 200}, session);
    CHECK_THROWS_WITH(bench.prepare(variant_of(study, "naive"), Scope::memory), "there is no kernel absent");
  });
}

TEST_CASE("device/negative/stale_output", "[negative]") {
  // On one workbench the intact naive kernel fills the output; the broken packed one then writes nothing.
  const MutatedStudy broken("writes_nothing");
  on_each_device([&](gpu::Session& session) {
    Workbench bench(broken.study(), {1, 200}, session);
    CHECK(bench.verify(bench.prepare(variant_of(broken.study(), "naive"), Scope::memory)) == "");
    CHECK(bench.verify(bench.prepare(variant_of(broken.study(), "packed"), Scope::memory))
              .find("output word 0 is 0xcdcdcdcd") == 0);
  });
}
