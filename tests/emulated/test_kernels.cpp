// SPDX-License-Identifier: MIT
//
// Every CUDA kernel without a GPU, at the sizes where index arithmetic breaks: right results, and no diagnosis.
#include <algorithm>

#include "bankwise/emulator/report.hpp"
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

/// Passes of a whole block, and what they would be without a conflict, on 32 banks.
///
/// reduce_naive  16-byte accesses, four passes for a whole warp. 8 warps store the tile: 32. Strides 128, 64 and 32 have
///               4 + 2 + 1 whole warps, three accesses each: 84. Strides 16 and 8 fill two quarters and one, 4 to 1 one:
///               3 * (2 + 1 + 1 + 1 + 1) = 18. One lane reads the result: 1. Together 135.
/// reduce_scalar, _packed  Four accesses for each of those. 12 warps have work in the tree: (3 * 12 + 8 + 1) * 4 = 180.
///               At stride 4, 32 lanes share a bank by four, 16 by two, fewer not at all: 540.
/// scan_padded   20 warps have work in a sweep, three accesses up and four down: 140. The tile stored and read: 2 * 16.
///               The root read and cleared: 2. Together 174.
/// scan_naive    The levels have degrees 2 4 8 16 16 8 4 2 1 over 8 4 2 1 1 1 1 1 1 warps, 95 passes an access: 7 * 95.
///               The tile 2-way: 2 * 32. The root: 2. Together 731.
/// transpose     8 warps store, then load: 1 and 8 passes; 2 and 2; with four rows a thread 4 * (1 and 32), 4 * (1 and 1).
struct Pinned {
  const char* kernel;
  std::uint64_t passes, ideal;
};
constexpr Pinned pinned[]{
    {"reduce_naive", 135, 135},     {"reduce_scalar", 540, 180},    {"reduce_packed", 180, 180},
    {"scan_naive", 731, 174},       {"scan_padded", 174, 174},      {"transpose_naive", 72, 16},
    {"transpose_padded", 32, 16},   {"transpose_tile32", 1056, 64}, {"transpose_tile32_padded", 64, 64},
    {"transpose_swizzled", 64, 64},
};

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

TEST_CASE("passes of a block are the pinned ones") {
  for (const CaseStudy* study : all_case_studies) {
    for (const Variant& variant : study->variants) {
      const std::string name = std::string(study->kernel_prefix) + std::string(variant.name);
      const gpu::KernelImage* image = find_image(*study, name);
      if (image == nullptr || !image->has_phase) continue;
      INFO(name);
      const auto expected =
          std::find_if(std::begin(pinned), std::end(pinned), [&](auto& p) { return p.kernel == name; });
      REQUIRE(expected != std::end(pinned));
      const Extent full = study->is_matrix ? Extent{32, 32} : Extent{1, 512};
      const auto job = emulate_job(*study, variant, full, input_of(*study, full));
      const auto report = emulator::report(job.traces.front(), *banks::find_architecture("sm_90"));
      CHECK(report.all.passes == expected->passes);
      CHECK(report.all.ideal == expected->ideal);
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
