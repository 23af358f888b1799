// SPDX-License-Identifier: MIT
//
// Every CUDA kernel without a GPU, at the sizes where index arithmetic breaks: right results, and no diagnosis.
#include <algorithm>

#include "catch_any.hpp"
#include "emulated_plan.hpp"

using namespace bankwise;

namespace {

std::vector<Extent> edges(const CaseStudy& study) {
  if (study.access != nullptr) return {{1, 0}, {1, 1}, {1, 3}};
  if (study.reference_of != nullptr) return {{1, 1}, {1, 3}};
  if (study.is_matrix) {
    return {{0, 5},   {1, 1},   {1, 257}, {257, 1},   {15, 17},  {16, 16}, {17, 15},
            {31, 33}, {32, 32}, {33, 31}, {127, 129}, {1, 5003}, {5003, 1}};
  }
  std::vector<Extent> extents{{1, 0}, {1, 1}, {1, 2}, {1, 100003}};
  constexpr std::uint64_t warp = 32, block = 256, tile = 2 * block;
  for (const std::uint64_t around : {warp, block, tile, block * block, tile * tile}) {
    for (const std::uint64_t n : {around - 1, around, around + 1}) extents.push_back({1, n});
  }
  return extents;
}

}  // namespace

TEST_CASE("every CUDA kernel gives the right words, whatever the width of a warp") {
  for (const CaseStudy* study : emulated_case_studies()) {
    for (const Variant& variant : study->variants) {
      if (variant.library) continue;
      for (const Extent extent : edges(*study)) {
        const Words input = input_of(*study, extent);
        const Words expected = expected_output(*study, variant, extent, input);
        for (const unsigned warp : {32U, 64U}) {
          if (warp == 64 && extent.count() > 1000) continue;
          INFO(study->name << " " << variant.name << " " << extent.height << " x " << extent.width << ", " << warp
                           << " lanes");
          CHECK(emulate_job(*study, variant, extent, input, {.warp = warp}).output == expected);
        }
      }
    }
  }
}

TEST_CASE("every kernel of a case study is emulated") {
  for (const CaseStudy* study : emulated_case_studies()) {
    for (const emulator::Kernel* kernel : study->emulated->kernels) {
      INFO(kernel->name << ": " << kernel->why_not);
      CHECK(kernel->run != nullptr);
    }
  }
}
