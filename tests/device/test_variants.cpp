// Every variant on every device, at the sizes where index arithmetic breaks.

#include <bankwise/bench/workbench.hpp>
#include <bankwise/gpu/error.hpp>
#include "devices_under_test.hpp"
#include "tests/case_studies.hpp"

using namespace bankwise;
using namespace bankwise::study;
using namespace bankwise::bench;

namespace {

/// Whether the block scope has a section to repeat.
bool has_section(const CaseStudy& study, const Variant& variant) {
  return !variant.library && find_image(study, study.plan(variant, {1, 1}, 1).launches().front().kernel)->has_section;
}

/// Whether the kernel's file states why this device cannot run it: it is for one API only, or for newer GPUs.
bool is_for_others(const CaseStudy& study, const Variant& variant, const gpu::Unsupported& why) {
  if (variant.library) return false;
  const gpu::KernelImage* const image = find_image(study, study.plan(variant, {1, 1}, 1).launches().front().kernel);
  const std::string_view what = why.what();
  return what == image->why_not_ported || what.find(" needs compute capability ") != std::string_view::npos ||
         (facts(study).contains("cuda_only") && what.ends_with(" has no OpenCL port"));
}

/// Runs every variant that the device can run; each once, or with its section repeated.
void verify_all(const CaseStudy& study, gpu::Session& session, Extent extent, Scope scope) {
  Workbench bench(study, extent, session);
  for (const Variant& variant : study.variants) {
    if (variant.library && session.info().api != gpu::Api::cuda) continue;
    INFO(to_string(session.info().api) << " " << session.info().name << ": " << study.name << " " << variant.name << " "
                                       << text(extent) << ", scope " << to_string(scope));
    std::string verdict;
    try {
      verdict = bench.verify(bench.prepare(variant, scope));
    } catch (const gpu::Unsupported& why) {
      const bool expected =
          (scope == Scope::block && !has_section(study, variant)) || is_for_others(study, variant, why);
      verdict = expected ? "" : why.what();
    }
    CHECK(verdict == "");
  }
}

void verify_edges(const CaseStudy& study) {
  on_each_device([&](gpu::Session& session) {
    for (const Extent extent : extents(study, "device")) verify_all(study, session, extent, Scope::memory);
    for (const Extent extent : extents(study, "device")) {
      if (extent.count() < 3000) verify_all(study, session, extent, Scope::block);
    }
  });
}

}  // namespace

#define VERIFY_EDGES(name, folder) \
  TEST_CASE("device/variants/" #name, "[" #name "]") { verify_edges(name::case_study()); }
FOR_EACH_CASE_STUDY(VERIFY_EDGES)

TEST_CASE("device/variants/launch_plans", "[interface]") {
  on_each_device([](gpu::Session& session) {
    for (const CaseStudy* study : all_case_studies) {
      const gpu::KernelImage& image = study->kernels->images.front();
      CHECK_THROWS_AS(session.prepare(image, gpu::Form::once, {1 << 12, 1 << 12}), gpu::Unsupported);
    }
  });
}

TEST_CASE("device/variants/two_sessions", "[interface]") {
  for (const auto& device : devices_under_test()) {
    const auto one = gpu::open(device), two = gpu::open(device);
    Workbench sum(reduction::case_study(), {1, 70001}, *one);
    Workbench flip(transpose::case_study(), {301, 203}, *two);
    const auto sum_ready = sum.prepare(reduction::case_study().variants.front(), Scope::memory);
    const auto flip_ready = flip.prepare(transpose::case_study().variants.front(), Scope::memory);
    for (int turn = 0; turn < 3; ++turn) {
      sum.enqueue(sum_ready);
      flip.enqueue(flip_ready);
      CHECK(sum.verify(sum_ready) == "");
      CHECK(flip.verify(flip_ready) == "");
    }
  }
}

TEST_CASE("device/variants/error_text", "[interface]") {
  on_each_device([](gpu::Session& session) {
    const bool cuda = session.info().api == gpu::Api::cuda;
    std::string message;
    try {
      std::byte byte{};
      if (cuda) session.allocate(std::uint64_t{1} << 60);
      if (!cuda) session.read(*session.allocate(4), 1000, {&byte, 1});  // past its end
    } catch (const gpu::Error& error) {
      message = error.what();
    }
    const char *const begin = cuda ? "cudaMalloc(&memory, bytes): cudaErrorMemoryAllocation"
                                   : "clEnqueueReadBuffer: CL_INVALID_VALUE",
                      *const file = cuda ? "cuda_api.hpp:" : "opencl_session.cpp:";
    CHECK(message.find(begin) == 0);
    CHECK_THAT(message, has(file));
  });
}

// In the transpose an extent with partial tiles. Requires a device with such a large buffer.
TEST_CASE("device/variants/more_than_2_32_bytes", "[.large]") {
  on_each_device([](gpu::Session& session) {
    for (const CaseStudy* study : all_case_studies) {
      for (const Extent extent : extents(*study, "large")) verify_all(*study, session, extent, Scope::memory);
    }
  });
}
