#include "variants.hpp"

#include <fmt/format.h>

#include <limits>
#include <numeric>

#include <bankwise/gpu/error.hpp>

namespace bankwise::prefix_sum {

using namespace study;

namespace {

constexpr Operand input_arrays[]{{"input", [](Extent extent) { return extent.count(); }}};
constexpr Operand output_arrays[]{{"output", [](Extent extent) { return extent.count(); }}};
constexpr std::uint64_t wide_tile = 2048;                                      // the tile of add_offsets_wide
constexpr std::uint64_t max_tiles = std::numeric_limits<std::int32_t>::max();  // the limit of a CUDA grid

std::vector<Words> reference(Extent, std::span<const Words> inputs, const Variant&) {
  Words output(inputs[0].size());
  std::exclusive_scan(inputs[0].begin(), inputs[0].end(), output.begin(), std::uint32_t{0});
  return {output};
}

/// Scan-then-propagate: scans the tiles, scans the tiles' totals recursively until one tile holds them all, then adds
/// the offsets, from the smallest array to the largest. Scratch buffer k holds the totals of depth k, scanned in place.
Plan plan_of_levels(const Variant& variant, Extent extent) {
  const bool wide = variant.tile == wide_tile;
  Plan plan;
  std::vector<std::uint64_t> counts{extent.count()};
  for (;;) {
    const std::size_t level = plan.steps.size();
    const std::uint64_t groups = tiles(counts.back(), variant.tile, 1);
    const Slot in = level == 0 ? input_slot : scratch_slot(level - 1);
    const Slot out = level == 0 ? output_slot : in;
    plan.scratch_bytes.push_back(groups * word_bytes);
    plan.steps.emplace_back(KernelLaunch{
        "scan_" + std::string(variant.name), groups, variant.group, {in, out, scratch_slot(level), counts.back()}});
    if (groups == 1) break;
    counts.push_back(groups);
  }
  for (std::size_t level = counts.size() - 1; level-- > 0;) {
    plan.steps.emplace_back(
        KernelLaunch{wide ? "scan_add_offsets_wide" : "scan_add_offsets",
                     tiles(counts[level], variant.tile),
                     wide ? shapes::add_offsets_wide : shapes::add_offsets,
                     {level == 0 ? output_slot : scratch_slot(level - 1), scratch_slot(level), counts[level]}});
  }
  return plan;
}

/// Single-pass scan: one launch, whose blocks claim tiles by tickets. The state is the ticket counter, which has
/// counter_words words to itself, and one word per tile. Error: gpu::Unsupported for more than max_tiles tiles, because
/// neither a grid nor the kernels' 32-bit tile numbers allow more.
Plan plan_of_one(const Variant& variant, Extent extent, unsigned units) {
  constexpr std::uint64_t counter_words = 32;  // TICKETS of the kernels
  const std::uint64_t count = tiles(extent.count(), variant.tile, 1);
  if (count > max_tiles) {
    throw gpu::Unsupported(
        fmt::format("{} words are {} tiles; {} supports at most {}", extent.count(), count, variant.name, max_tiles));
  }
  KernelLaunch launch{"scan_" + std::string(variant.name),
                      blocks(variant, count, units),
                      variant.group,
                      {input_slot, output_slot, state_slot, extent.count()}};
  if (variant.name == "ring") {  // as rank 0, which reads no totals
    launch.arguments = {input_slot, output_slot, state_slot, input_slot, extent.count(), std::uint64_t{0}};
  }
  return {{}, {launch}, (counter_words + count) * sizeof(std::uint64_t)};
}

/// Reduce-then-scan: one launch adds up each chunk, a second one scans each chunk, with one work-item per chunk.
Plan plan_of_chunks(const Variant& variant, Extent extent, unsigned units) {
  const std::uint64_t groups = blocks(variant, tiles(extent.count(), variant.tile, 1), units);
  const Slot sums = scratch_slot(0);
  return {{groups * word_bytes},
          {KernelLaunch{"scan_chunk_sums", groups, variant.group, {input_slot, sums, extent.count()}},
           KernelLaunch{"scan_chunked", groups, variant.group, {input_slot, output_slot, sums, extent.count()}}}};
}

Plan plan(const Variant& variant, Extent extent, unsigned units) {
  if (variant.single_pass) return plan_of_one(variant, extent, units);
  if (variant.group.size() == 1) return plan_of_chunks(variant, extent, units);
  return plan_of_levels(variant, extent);
}

/// Names of the barrier intervals of naive.cuh. Thread 0 clears the root after the up-sweep, without a barrier.
std::vector<std::string> names_of_sweeps(unsigned block) {
  std::vector<std::string> names{"load"};
  for (unsigned busy = block; busy > 0; busy /= 2) names.push_back("up " + std::to_string(busy));
  names.back() += ", root";
  for (unsigned busy = 1; busy <= block; busy *= 2) names.push_back("down " + std::to_string(busy));
  names.emplace_back("store");
  return names;
}

std::vector<std::string> level_names(const Variant& variant, std::string_view kernel) {
  const unsigned block = variant.group.size();
  const std::string warps = std::to_string(block / 32);
  if (kernel == "scan_hillis_steele") {
    std::vector<std::string> names{"load"};
    for (unsigned step = 1; step < block; step *= 2) names.push_back("add " + std::to_string(block - step));
    names.emplace_back("store");
    return names;
  }
  if (kernel == "scan_warp_scan") return {"warps " + warps, "block"};
  if (kernel == "scan_look_back") return {"ticket", "sums " + warps, "look back", "store"};
  return names_of_sweeps(block);
}

}  // namespace

const CaseStudy& case_study() {
  static const CaseStudy study{
      .name = "prefix_sum",
      .summary =
          "Exclusive prefix sum (scan) of 32-bit words: from bank conflicts in shared memory to a single-pass scan",
      .kernel_prefix = "scan_",
      .element = "words",
      .variants = variants,
      .baseline = "naive",
      .kernels = &gpu::prefix_sum_kernels,
      .emulated = &emulator::prefix_sum_emulated,
      .inputs = input_arrays,
      .outputs = output_arrays,
      .extent_for =
          [](std::uint64_t bytes) {
            return Extent{1, bytes / (2 * word_bytes)};
          },
      .reference = reference,
      .plan = plan,
      .level_names = level_names,
      .ranks = &ranks,
  };
  return study;
}

}  // namespace bankwise::prefix_sum
