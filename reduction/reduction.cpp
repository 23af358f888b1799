#include "variants.hpp"

#include <utility>

namespace bankwise::reduction {

using namespace study;

namespace {

constexpr Operand input_arrays[]{{"input", [](Extent extent) { return extent.count() * record_words; }}};
constexpr Operand output_arrays[]{{"output", [](Extent) { return record_words; }}};
constexpr std::uint64_t state_bytes = record_words * sizeof(std::uint64_t);  // the state of single_pass.cuh

std::vector<Words> reference(Extent extent, std::span<const Words> inputs, const Variant&) {
  Words sum(record_words, 0);
  for (std::uint64_t i = 0; i < extent.count() * record_words; ++i) sum[i % record_words] += inputs[0][i];
  return {sum};
}

/// Every launch writes one record per block. Launches repeat until one is left, in two alternating scratch buffers.
Plan plan(const Variant& variant, Extent extent, unsigned units) {
  const std::string kernel = "reduce_" + std::string(variant.name);
  const std::uint64_t tile = variant.tile == 0 ? variant.group.size() : variant.tile;
  Plan plan;
  Slot in = input_slot;
  for (std::uint64_t left = extent.count();;) {
    const std::uint64_t groups = blocks(variant, tiles(left, tile, 1), units);
    if (variant.single_pass) {
      plan.state_bytes = state_bytes;
      plan.steps.emplace_back(KernelLaunch{kernel, groups, variant.group, {in, output_slot, state_slot, left}});
      return plan;
    }
    const bool last = groups == 1;
    const std::size_t level = plan.steps.size();
    if (!last && level < 2) plan.scratch_bytes.push_back(groups * record_bytes);
    const Slot out = last ? output_slot : scratch_slot(level % 2);
    plan.steps.emplace_back(KernelLaunch{kernel, groups, variant.group, {in, out, left}});
    if (last) return plan;
    in = out;
    left = groups;
  }
}

/// Names of the levels (the intervals between two barriers). The trees have those of sequential.cuh. The kernels with
/// shuffles have two: the sum of each warp, and the sum of these.
std::vector<std::string> level_names(const Variant& variant, std::string_view kernel) {
  if (kernel == "reduce_chunked") return {};
  if (kernel == "reduce_shuffle" || kernel == "reduce_streaming" || kernel == "reduce_single_pass") {
    const std::string warps = std::to_string(variant.group.size() / 32);
    return {"warps " + warps, "block " + warps};
  }
  std::vector<std::string> names{"load"};
  for (unsigned busy = variant.group.size() / 2; busy > 0; busy /= 2) names.push_back("add " + std::to_string(busy));
  names.emplace_back("store");
  return names;
}

}  // namespace

const CaseStudy& case_study() {
  static const CaseStudy study{
      .name = "reduction",
      .summary =
          "Parallel reduction of uint4 records: trees with and without bank conflicts, warp shuffles, single pass",
      .kernel_prefix = "reduce_",
      .element = "uint4 records",
      .variants = variants,
      .baseline = "naive",
      .kernels = &gpu::reduction_kernels,
      .emulated = &emulator::reduction_emulated,
      .inputs = input_arrays,
      .outputs = output_arrays,
      .extent_for =
          [](std::uint64_t bytes) {
            return Extent{1, bytes / record_bytes};
          },
      .reference = reference,
      .plan = plan,
      .level_names = level_names,
      .ranks = &ranks,
  };
  return study;
}

}  // namespace bankwise::reduction
