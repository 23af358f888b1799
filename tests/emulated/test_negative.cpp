// SPDX-License-Identifier: MIT
//
// Kernels broken on purpose whose results may be right all the same: running their lanes must tell.
#include "case_studies.hpp"
#include "catch_any.hpp"
#include "lanes.hpp"

using namespace bankwise;

TEST_CASE("a barrier removed is a race") {
  const CaseStudy& study = reduction::case_study();
  const auto trace = lanes::run_plan(study, variant_of(study, "naive"), {1, 256}, hashed_words(1024),
                                     {{"reduce_naive", "barrier_removed"}})
                         .second;
  CHECK(lanes::find_race(trace) != "");
}

TEST_CASE("a pad that is declared but not used shows in the passes alone") {
  const CaseStudy& study = prefix_sum::case_study();
  const Words input = hashed_words(512);
  const auto [output, trace] =
      lanes::run_plan(study, variant_of(study, "padded"), {1, 512}, input, {{"scan_padded", "index_unpadded"}});
  CHECK(output == study.reference({1, 512}, input));
  CHECK(lanes::find_race(trace) == "");
  const lanes::Cost cost = lanes::cost(trace);
  CHECK(cost.passes > cost.ideal);
}
