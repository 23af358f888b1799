#include "doubling.hpp"

namespace bankwise::gpu {
extern const KernelSet doubling_kernels;
}

namespace bankwise::emulator {
extern const NamedKernels doubling_emulated;
}

namespace bankwise::doubling {

using namespace study;

namespace {

constexpr Variant variants[]{{"naive", {128, 1}, "a word for each thread"}};

constexpr Operand input_arrays[]{{"input", [](Extent extent) { return extent.count(); }}};
constexpr Operand output_arrays[]{{"output", [](Extent extent) { return extent.count(); }}};

std::vector<Words> reference(Extent, std::span<const Words> inputs, const Variant&) {
  Words output = inputs[0];
  for (auto& word : output) word *= 2;
  return {output};
}

Plan plan(const Variant& variant, Extent extent, unsigned) {
  return {
      {},
      {KernelLaunch{
          "double_naive", tiles(extent.count(), 128, 1), variant.group, {input_slot, output_slot, extent.count()}}}};
}

}  // namespace

const CaseStudy& case_study() {
  static const CaseStudy study{
      .name = "doubling",
      .summary = "Every word times two",
      .kernel_prefix = "double_",
      .element = "words",
      .variants = variants,
      .baseline = "naive",
      .kernels = &gpu::doubling_kernels,
      .emulated = &emulator::doubling_emulated,
      .inputs = input_arrays,
      .outputs = output_arrays,
      .extent_for =
          [](std::uint64_t bytes) {
            return Extent{1, bytes / 8};
          },
      .reference = reference,
      .plan = plan,
  };
  return study;
}

}  // namespace bankwise::doubling
