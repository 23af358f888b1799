// SPDX-License-Identifier: MIT
//
// Kernels that cannot be emulated: every report has the reason of each.
#include <nlohmann/json.hpp>
#include <stdexcept>

#include <bankwise/emulator/core/emulate.hpp>
#include <bankwise/report/report.hpp>
#include "tests/bankcheck/predict/well_formed.hpp"
#include "tests/case_studies.hpp"
#include "tests/catch_any.hpp"

using namespace bankwise;
using namespace bankwise::report;

namespace {

// A case study whose kernels are fake.
trace::KernelTrace out_of_order(const emulator::Launch&, std::span<const emulator::Argument>) {
  throw std::runtime_error("lane 7 is out of order");
}
constexpr emulator::NamedKernel broken{"made_up_broken", out_of_order, ""};
constexpr emulator::NamedKernel untranslatable{"made_up_tma", nullptr, "a CPU has no tensor memory accelerator."};
constexpr const emulator::NamedKernel* made_up_kernels[]{&broken, &untranslatable};
constexpr emulator::NamedKernels made_up_set{made_up_kernels};

CaseStudy made_up() {
  CaseStudy study = reduction::case_study();
  study.emulated = &made_up_set;
  study.plan = [](const Variant& variant, Extent, unsigned) {
    return Plan{{}, {KernelLaunch{"made_up_" + std::string(variant.name), 1, {32, 1}, {input_slot}}}};
  };
  return study;
}

}  // namespace

TEST_CASE("study/no_levels/reason") {
  const CaseStudy study = made_up();
  static constexpr Variant variants[]{
      {"broken", {32, 1}, ""}, {"tma", {32, 1}, ""}, {"absent", {32, 1}, ""}, {"library", {}, "", {.library = true}}};
  constexpr const char* reasons[]{"lane 7 is out of order", "a CPU has no tensor memory accelerator.",
                                  "there is no kernel made_up_absent for the emulator",
                                  "a library has no kernel here to emulate"};
  std::vector<const Variant*> wanted;
  for (const Variant& variant : variants) wanted.push_back(&variant);
  const auto levels = levels_of(study, wanted, Extent{1, 1000}, *banks::find_architecture("sm_90"));
  REQUIRE(levels.size() == 4);
  for (std::size_t i = 0; i < levels.size(); ++i) {
    CHECK(levels[i].variant == variants[i].name);
    CHECK(levels[i].reason == reasons[i]);
    CHECK(levels[i].kernels.empty());
    CHECK_FALSE(levels[i].costs);
    CHECK_FALSE(levels[i].alu_utilization);
    CHECK_FALSE(levels[i].simt_efficiency);
  }
}

TEST_CASE("study/no_levels/special_characters") {
  Report report{&reduction::case_study(), {}, {}, {}, {}};
  VariantLevels levels;
  levels.variant = "naive";
  levels.architecture = banks::find_architecture("sm_90");
  levels.reason = "expected a < b && c, and not a word" + std::string(300, 'x') + " that goes on & on";
  report.levels.push_back(levels);
  CHECK(what_is_malformed(levels_svg(report)) == "");
  CHECK(nlohmann::json::parse(json_report(report)).at("totals").at(0).at("reason") == levels.reason);
  CHECK(levels_text(report).find(levels.reason) != std::string::npos);
}
