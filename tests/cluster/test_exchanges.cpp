// SPDX-License-Identifier: MIT
//
// The case studies on several ranks of an OpenCL device, which exchange through host memory: many sizes in one job, and
// faults that verification must find.
#include <bankwise/bench/rank_bench.hpp>
#include <bankwise/gpu/error.hpp>
#include "broken_studies.hpp"
#include "rank_main.hpp"
#include "tests/case_studies.hpp"
#include "tests/catch_any.hpp"

using namespace bankwise;

namespace {

/// Verifies the plan twice: with poisoned scratch memory, and with what the first run has left in it.
std::string verdict(const CaseStudy& study, const Variant& variant, Extent extent) {
  gpu::Session& session = opencl_device();
  const auto engine = cluster::open_host_engine(session, communicator());
  const Cluster cluster{communicator(), *engine};
  RankBench bench(study, extent, session, cluster);
  const auto prepared = bench.prepare(variant);
  const std::string first = bench.verify(prepared, true), second = bench.verify(prepared, false);
  return first.empty() ? second : first;
}

std::vector<Extent> extents_of(const CaseStudy& study) {
  if (is_matrix(study)) return {{1, 1}, {2, 3}, {3, 70}, {70, 3}, {64, 64}, {65, 130}, {131, 67}, {260, 264}};
  return {{1, 0}, {1, 1}, {1, 2}, {1, 5}, {1, 127}, {1, 8193}, {1, 100003}};
}

}  // namespace

TEST_CASE("every variant that OpenCL supports is right at every size", "[exchanges]") {
  std::vector<std::string> unsupported;
  for (const CaseStudy* study : {&reduction::case_study(), &prefix_sum::case_study(), &transpose::case_study()}) {
    for (const Variant& variant : study->ranks->variants) {
      try {
        for (const Extent extent : extents_of(*study)) {
          INFO(study->name << " " << variant.name << " " << extent.height << " x " << extent.width);
          const std::string wrong = verdict(*study, variant, extent);
          CHECK(wrong == "");
        }
      } catch (const gpu::Unsupported& why) {
        CHECK(std::string(why.what()).find("rank 0: OpenCL ") == 0);
        unsupported.push_back(std::string(study->name) + " " + std::string(variant.name));
      }
    }
  }
  // They need the memory of other ranks' devices, or TMA.
  CHECK(unsupported == std::vector<std::string>{"reduction peers", "prefix_sum ring", "prefix_sum peers",
                                                "prefix_sum on_chip", "prefix_sum cyclic", "transpose direct"});
}

TEST_CASE("verification finds exchanges that are left out, and words of another rank", "[exchanges]") {
  for (const Fault& fault : all_faults()) {
    INFO(fault.name);
    const BrokenStudy broken(fault);
    // Ranks with equal shares, so nothing but the words differs.
    const Extent extent = is_matrix(*fault.sound) ? Extent{24, 24} : Extent{1, 24000};
    const Variant& variant = fault.sound->ranks->variants.front();
    CHECK(verdict(*fault.sound, variant, extent) == "");
    const std::string found = verdict(broken.study(), variant, extent);
    CHECK(found.find("rank ") == 0);
    CHECK(found.find("output word ") != std::string::npos);
    for (const std::string& text : communicator().gather(found)) CHECK(text == found);
  }
}
