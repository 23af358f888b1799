// SPDX-License-Identifier: MIT
//
// Kernels broken on purpose: verification must tell, and say what is wrong. OpenCL alone, for the checks are the same
// code for both APIs.
#include <algorithm>

#include "../negative/mutations.hpp"
#include "bankwise/runner/workbench.hpp"
#include "case_studies.hpp"
#include "catch_any.hpp"
#include "devices_under_test.hpp"

using namespace bankwise;

namespace {

/// A case study with one kernel replaced by its mutation.
class Broken {
 public:
  explicit Broken(std::string_view name) : mutation_(mutation(name)) {
    const auto folder = mutation_.file.substr(0, mutation_.file.find('/'));
    const auto found = std::find_if(std::begin(all_case_studies), std::end(all_case_studies),
                                    [&](const CaseStudy* study) { return study->name == folder; });
    REQUIRE(found != std::end(all_case_studies));
    study_ = **found;
    sound_ = study_;
    images_.assign(study_.kernels->images.begin(), study_.kernels->images.end());
    for (auto& image : images_) {
      if (image.name != mutation_.kernel) continue;
      source_ = mutate(std::string(image.opencl_source), mutation_);
      image.opencl_source = source_;
    }
    kernels_ = {images_, nullptr};
    study_.kernels = &kernels_;
  }
  Broken(const Broken&) = delete;
  Broken& operator=(const Broken&) = delete;

  /// What verification says about the broken kernel. The sound one must pass on the same problem.
  std::string verdict(const gpu::DeviceInfo& device, Extent extent) const {
    CHECK(verdict_of(sound_, device, extent) == "");
    return verdict_of(study_, device, extent);
  }

  const CaseStudy& study() const { return study_; }

 private:
  std::string verdict_of(const CaseStudy& study, const gpu::DeviceInfo& device, Extent extent) const {
    const auto session = gpu::open(device);
    Workbench bench(study, extent, *session);
    return bench.verify(
        bench.prepare(variant_of(study, mutation_.kernel.substr(study.kernel_prefix.size())), Scope::memory));
  }

  const Mutation& mutation_;
  CaseStudy study_, sound_;
  std::vector<gpu::KernelImage> images_;
  std::string source_;
  gpu::KernelSet kernels_;
};

}  // namespace

TEST_CASE("a dropped last element is a wrong sum", "[negative]") {
  const Broken broken("last_element_dropped");
  for (const auto& device : devices_under_test()) {
    CHECK(broken.verdict(device, {1, 1000}).find("output word 0 is") == 0);
  }
}

TEST_CASE("a write past the end hits the guard", "[negative]") {
  const Broken broken("one_past_the_end");
  for (const auto& device : devices_under_test()) {
    CHECK(broken.verdict(device, {1, 511}) == "word 0 behind the output was overwritten");
  }
}

TEST_CASE("NaN is not equal to anything", "[negative]") {
  const Broken broken("writes_nan");
  for (const auto& device : devices_under_test()) {
    CHECK(broken.verdict(device, {33, 31}).find("output word 0 is 0x7fc00000") == 0);
  }
}

TEST_CASE("the input must stay as it was", "[negative]") {
  const Broken broken("changes_its_input");
  for (const auto& device : devices_under_test()) {
    CHECK(broken.verdict(device, {1, 500}).find("input word 0 is") == 0);
  }
}

TEST_CASE("the output of an earlier run does not pass for a result", "[negative]") {
  // On one workbench the sound naive kernel fills the output; the broken packed one then writes nothing.
  const Broken broken("writes_nothing");
  for (const auto& device : devices_under_test()) {
    const auto session = gpu::open(device);
    Workbench bench(broken.study(), {1, 200}, *session);
    CHECK(bench.verify(bench.prepare(variant_of(broken.study(), "naive"), Scope::memory)) == "");
    CHECK(bench.verify(bench.prepare(variant_of(broken.study(), "packed"), Scope::memory))
              .find("output word 0 is 0xcdcdcdcd") == 0);
  }
}
