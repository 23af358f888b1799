// Every CUDA kernel without a GPU, at the sizes where index arithmetic breaks: right results, and no diagnosis.
#include <algorithm>
#include <set>
#include <string>

#include <bankwise/trace/report.hpp>
#include "emulated_plan.hpp"
#include "tests/catch_any.hpp"

using namespace bankwise;
using namespace bankwise::study;

TEST_CASE("emulator/kernels/right_at_any_width") {
  for (const CaseStudy* study : all_case_studies) {
    for (const Variant& variant : study->variants) {
      if (variant.library || !why_not_emulated(*study, variant).empty()) continue;
      for (const Extent extent : extents(*study, "emulated")) {
        const std::vector<Words> inputs = all_inputs(*study, extent);
        const std::vector<Words> expected = study->reference(extent, inputs, variant);
        for (const unsigned warp : {32U, 64U}) {
          if (warp == 64 && extent.count() > 1000) continue;
          INFO(study->name << " " << variant.name << " " << text(extent) << ", " << warp << " lanes");
          CHECK(emulate_job(*study, variant, extent, inputs, {.warp = warp}).outputs == expected);
        }
      }
    }
  }
}

TEST_CASE("emulator/kernels/pinned_passes") {
  const std::set<std::string> known_facts{"ideal", "passes", "port", "ptx", "why"};
  for (const CaseStudy* study : all_case_studies) {
    for (const auto& [name, pinned] : kernel_facts(*study).items()) {
      INFO(study->name << " " << name);
      for (const auto& [key, fact] : pinned.items()) CHECK(known_facts.contains(key));  // else a typo would skip it
      if (!pinned.contains("passes")) continue;
      const Variant& variant = variant_of(*study, name);
      const Extent block = extent(facts(*study).at("block"));
      const auto job = emulate_job(*study, variant, block, all_inputs(*study, block));
      const auto report = trace::report(job.traces.front(), *banks::find_architecture("sm_90"));
      CHECK(report.all.passes == pinned.at("passes"));
      CHECK(report.all.ideal == pinned.at("ideal"));
    }
  }
}

TEST_CASE("emulator/kernels/all_but_ptx") {
  for (const CaseStudy* study : all_case_studies) {
    for (const emulator::NamedKernel* kernel : study->emulated->kernels) {
      INFO(kernel->name << ": " << kernel->why_not);
      CHECK((kernel->run != nullptr || kernel->why_not.ends_with("PTX")));
    }
  }
}
