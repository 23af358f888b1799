// SPDX-License-Identifier: MIT
//
// Every CUDA kernel without a GPU, at the sizes where index arithmetic breaks: right results, and no diagnosis.
#include <algorithm>

#include <bankwise/trace/report.hpp>
#include "emulated_plan.hpp"
#include "tests/catch_any.hpp"

using namespace bankwise;

namespace {

std::vector<Extent> edges(const CaseStudy& study) {
  if (&study == &access_patterns::case_study()) return {{1, 0}, {1, 1}, {1, 3}};
  if (!study.one_result) return {{1, 1}, {1, 3}};
  if (is_matrix(study)) {
    // The last three have rows of whole 16-byte chunks on one side, on the other, on both.
    return {{0, 5},   {1, 1},   {1, 257},   {257, 1},  {15, 17},  {16, 16}, {17, 15}, {31, 33},
            {32, 32}, {33, 31}, {127, 129}, {1, 5003}, {5003, 1}, {64, 65}, {65, 64}, {60, 132}};
  }
  constexpr std::uint64_t warp = 32, block = 256, tile = 2 * block;
  std::vector<Extent> extents{{1, 0}, {1, 1}, {1, 2}, {1, block * block}, {1, block * block + 1}, {1, tile * tile + 1}};
  for (const std::uint64_t around : {warp, block, tile, 4 * tile, 16 * tile}) {
    for (const std::uint64_t n : {around - 1, around, around + 1}) extents.push_back({1, n});
  }
  return extents;
}

/// Passes of a whole block, and its ideal passes without conflicts, on 32 banks.
///
/// reduce_modulo  16-byte accesses, one pass per quarter-warp with an active lane; all 8 warps store the tile: 32. At
///           strides 1, 2 and 4 every quarter of every warp has one: 3 accesses, 8 * 4. At 8 two quarters, at 16 one.
///           At 32, 64 and 128 one lane in 4, 2 and 1 warps. 3 * (32 + 32 + 32 + 16 + 8 + 4 + 2 + 1) = 381. One lane
///           reads the result: 1. Together 414. Because every second lane is inactive, a load merges quarters in
///           pairs, two lanes of which conflict at strides 1, 2 and 4: 2 * 16 passes per stride are avoidable: 318.
/// reduce_interleaved  The same additions by the first lanes: 4 + 2 + 1 whole warps and the beginning of one. Lane k is
///           at word 8 * stride * k, so of the 8 lanes of a quarter 2, 4, 8 conflict, and then 8, 8 and all that are
///           left: 3 * (4 * 4 * 2 + 2 * 4 * 4 + 1 * 4 * 8 + 2 * 8 + 8 + 4 + 2 + 1) = 381, and 414 again. The ideal is
///           that of reduce_sequential.
/// reduce_sequential  16-byte accesses, four passes for a whole warp. 8 warps store the tile: 32. Strides 128, 64 and
///           32 have 4 + 2 + 1 whole warps, three accesses each: 84. Strides 16 and 8 fill two quarters and one, 4 to 1
///           one: 3 * (2 + 1 + 1 + 1 + 1) = 18. One lane reads the result: 1. Together 135.
/// reduce_naive, _packed  Four accesses for each of those. 12 warps have work in the tree: (3 * 12 + 8 + 1) * 4 = 180.
///           At stride 4, 32 lanes share a bank by four, 16 by two, fewer not at all: 540.
/// reduce_first_add  The tree of reduce_sequential.
/// reduce_shuffle, _streaming  A lane of each warp stores, 8 or 16 accesses of one pass; 8 or 16 lanes read, one or two
///           passes.
/// scan_hillis_steele  16 warps store the tile: 16. In each of 9 steps they all store; step 1, 2, 4 ... omits as many
///           lanes' loads, so 16 warps load five times, then 15, 14, 12, 8. 16 read the result.
///           16 + 144 + 129 + 16 = 305.
/// scan_padded_twice  32 + 16 + 8 + 4 + 2 + 6 * 1 = 68 warps have work in a sweep: 68 * (3 + 4). The tile: 2 * 64. The
///           root: 2. Together 606, without the second pad 2-way in five levels of one warp, 5 * 7 more.
/// scan_warp_scan  A lane of each of 8 warps stores, 8 lanes of each read.
/// scan_padded   20 warps have work in a sweep, three accesses up and four down: 140. The tile stored and read: 2 * 16.
///           The root read and cleared: 2. Together 174.
/// scan_naive    The levels have degrees 2 4 8 16 16 8 4 2 1 over 8 4 2 1 1 1 1 1 1 warps, 95 passes per access:
///           7 * 95. The tile 2-way: 2 * 32. The root: 2. Together 731.
/// transpose     8 warps store, then load: 1 and 8 passes; 2 and 2; with four rows per thread 4 * (1 and 32),
///           4 * (1 and 1).
/// transpose_vectorized, _output_order, _persisting  16 warps have two patches each. Four words
///           per lane store a patch, one pass each. 16-byte accesses load the same amount, four passes for a whole
///           warp: 16 * 2 * (4 + 4).
struct Pinned {
  const char* kernel;
  std::uint64_t passes, ideal;
};
constexpr Pinned pinned[]{
    {"reduce_modulo", 414, 318},        {"reduce_interleaved", 414, 135},     {"reduce_first_add", 135, 135},
    {"reduce_shuffle", 9, 9},           {"reduce_streaming", 18, 18},         {"reduce_sequential", 135, 135},
    {"reduce_naive", 540, 180},         {"reduce_packed", 180, 180},          {"scan_hillis_steele", 305, 305},
    {"scan_padded_twice", 606, 606},    {"scan_warp_scan", 16, 16},           {"scan_naive", 731, 174},
    {"scan_padded", 174, 174},          {"transpose_naive", 72, 16},          {"transpose_padded", 32, 16},
    {"transpose_tile32", 1056, 64},     {"transpose_tile32_padded", 64, 64},  {"transpose_swizzled", 64, 64},
    {"transpose_vectorized", 256, 256}, {"transpose_output_order", 256, 256}, {"transpose_persisting", 256, 256},
};

}  // namespace

TEST_CASE("emulator/kernels/right_at_any_width") {
  for (const CaseStudy* study : emulated_case_studies()) {
    for (const Variant& variant : study->variants) {
      if (variant.library || !why_not_emulated(*study, variant).empty()) continue;
      for (const Extent extent : edges(*study)) {
        const std::vector<Words> inputs = all_inputs(*study, extent);
        const std::vector<Words> expected = study->reference(extent, inputs, variant);
        for (const unsigned warp : {32U, 64U}) {
          if (warp == 64 && extent.count() > 1000) continue;
          INFO(study->name << " " << variant.name << " " << extent.height << " x " << extent.width << ", " << warp
                           << " lanes");
          CHECK(emulate_job(*study, variant, extent, inputs, {.warp = warp}).outputs == expected);
        }
      }
    }
  }
}

TEST_CASE("emulator/kernels/pinned_passes") {
  std::size_t seen = 0;
  for (const CaseStudy* study : all_case_studies) {
    for (const Variant& variant : study->variants) {
      const std::string name = std::string(study->kernel_prefix) + std::string(variant.name);
      INFO(name);
      const auto expected =
          std::find_if(std::begin(pinned), std::end(pinned), [&](auto& p) { return p.kernel == name; });
      if (expected == std::end(pinned)) continue;
      ++seen;
      const Extent full = is_matrix(*study) ? Extent{32, 32} : Extent{1, 512};
      const auto job = emulate_job(*study, variant, full, all_inputs(*study, full));
      const auto report = trace::report(job.traces.front(), *banks::find_architecture("sm_90"));
      CHECK(report.all.passes == expected->passes);
      CHECK(report.all.ideal == expected->ideal);
    }
  }
  CHECK(seen == std::size(pinned));  // none of them has been renamed
}

TEST_CASE("emulator/kernels/all_but_ptx") {
  for (const CaseStudy* study : emulated_case_studies()) {
    for (const emulator::Kernel* kernel : study->emulated->kernels) {
      INFO(kernel->name << ": " << kernel->why_not);
      CHECK((kernel->run != nullptr || kernel->why_not.ends_with("PTX")));
    }
  }
}
