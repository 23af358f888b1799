// SPDX-License-Identifier: MIT
#include "prefix_sum.hpp"

#include <numeric>

#include "variants.hpp"

namespace bankwise::gpu {
extern const KernelSet prefix_sum_kernels;
}
namespace bankwise::emulator {
extern const KernelSet prefix_sum_emulated;
}

namespace bankwise::prefix_sum {
namespace {

constexpr std::uint64_t word_bytes = sizeof(std::uint32_t);

Words reference(Extent, const Words& input) {
  Words output(input.size());
  std::exclusive_scan(input.begin(), input.end(), output.begin(), std::uint32_t{0});
  return output;
}

/// Scan the tiles, scan the tiles' totals the same way until one tile holds them all, then add them back in, the
/// smallest level first. Scratch buffer k holds the totals of level k, scanned in place.
Plan plan(const Variant& variant, Extent extent, unsigned) {
  const std::uint64_t tile = 2 * variant.group.size();
  Plan plan;
  std::vector<std::uint64_t> counts{extent.count()};
  for (;;) {
    const std::size_t level = plan.launches.size();
    const std::uint64_t groups = tiles(counts.back(), tile, 1);
    const Slot in = level == 0 ? input_slot : scratch_slot(level - 1);
    const Slot out = level == 0 ? output_slot : in;
    plan.scratch_bytes.push_back(groups * word_bytes);
    plan.launches.push_back(
        {"scan_" + std::string(variant.name), groups, variant.group, {in, out, scratch_slot(level), counts.back()}});
    if (groups == 1) break;
    counts.push_back(groups);
  }
  for (std::size_t level = counts.size() - 1; level-- > 0;) {
    plan.launches.push_back({"scan_add_offsets",
                             tiles(counts[level], tile),
                             variant.group,
                             {level == 0 ? output_slot : scratch_slot(level - 1), scratch_slot(level), counts[level]}});
  }
  return plan;
}

/// The two sweeps of naive.cuh. Lane 0 clears the root after the last step up, without a barrier in between.
std::vector<std::string> level_names(const Variant& variant, std::string_view) {
  const unsigned block = variant.group.size();
  std::vector<std::string> names{"load"};
  for (unsigned busy = block; busy > 0; busy /= 2) names.push_back("up " + std::to_string(busy));
  names.back() += ", root";
  for (unsigned busy = 1; busy <= block; busy *= 2) names.push_back("down " + std::to_string(busy));
  names.emplace_back("store");
  return names;
}

}  // namespace

const CaseStudy& case_study() {
  static const CaseStudy study{
      .name = "prefix_sum",
      .summary = "Exclusive prefix sum of words: Blelloch's scan in shared memory, with and without bank conflicts",
      .kernel_prefix = "scan_",
      .element = "words",
      .variants = variants,
      .kernels = &gpu::prefix_sum_kernels,
      .emulated = &emulator::prefix_sum_emulated,
      .input_words = [](Extent extent) { return extent.count(); },
      .output_words = [](Extent extent) { return extent.count(); },
      .compulsory_bytes = [](Extent extent) { return 2 * extent.count() * word_bytes; },
      .extent_for =
          [](std::uint64_t bytes) {
            return Extent{1, bytes / (2 * word_bytes)};
          },
      .input_word = hashed_word,
      .reference = reference,
      .plan = plan,
      .level_names = level_names,
  };
  return study;
}

}  // namespace bankwise::prefix_sum
