// SPDX-License-Identifier: MIT
//
// The model's prediction for whole jobs, against the cost of a block times the number of blocks.
#include <bankwise/banks/cost.hpp>
#include <bankwise/study/counter_result.hpp>
#include "tests/case_studies.hpp"
#include "tests/catch_any.hpp"

using namespace bankwise;

namespace {

JobModel model_of(const CaseStudy& study, std::string_view name, Extent extent, unsigned units = 100) {
  return job_model(study, variant_of(study, name), extent, units, *banks::find_architecture("sm_90"));
}

}  // namespace

TEST_CASE("study/job_model/sum_over_blocks") {
  // docs/results/nvidia_h200/counters.md has the emulated numbers of a block. 4096 blocks, then 16, then one.
  const JobModel reduced = model_of(reduction::case_study(), "naive", {1, 1 << 20});
  INFO(reduced.reason);
  constexpr std::uint64_t blocks = 4096 + 16 + 1;
  CHECK(reduced.loads->passes == blocks * 276);
  CHECK(reduced.loads->conflicts == blocks * 176);
  CHECK(reduced.stores->passes == blocks * 264);
  CHECK(reduced.stores->conflicts == blocks * 184);
  CHECK(reduced.atomics->passes == 0);
  CHECK(reduced.simt_efficiency.value() > 0.5);
  CHECK(reduced.simt_efficiency.value() < 1);

  const JobModel transposed = model_of(transpose::case_study(), "tile32", {64, 128});
  CHECK(transposed.loads->passes == 8 * 1024);
  CHECK(transposed.loads->conflicts == 8 * (1024 - 32));
  CHECK(transposed.stores->passes == 8 * 32);
  CHECK(model_of(transpose::case_study(), "global", {64, 64}).simt_efficiency == 1.0);

  const JobModel scanned = model_of(prefix_sum::case_study(), "naive", {1, 512});
  CHECK(scanned.loads->passes == 413);
  CHECK(scanned.stores->conflicts == 241);
}

TEST_CASE("study/job_model/not_emulated") {
  const JobModel library = model_of(reduction::case_study(), "library", {1, 1000});
  CHECK_FALSE(library.loads);
  CHECK_FALSE(library.simt_efficiency);
  CHECK(library.reason == "a library has no kernel here to emulate");
}
