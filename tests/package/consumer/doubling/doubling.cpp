// SPDX-License-Identifier: MIT
#include "doubling.hpp"

namespace bankwise::gpu {
extern const KernelSet doubling_kernels;
}

namespace bankwise::doubling {
namespace {

constexpr Variant variants[]{{"naive", {128, 1}, "a word for each thread"}};

Words reference(Extent, const Words& input, const Variant&) {
  Words output = input;
  for (auto& word : output) word *= 2;
  return output;
}

Plan plan(const Variant& variant, Extent extent, unsigned) {
  return {{},
          {{"double_naive", tiles(extent.count(), 128, 1), variant.group, {input_slot, output_slot, extent.count()}}}};
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
      .input_words = [](Extent extent) { return extent.count(); },
      .output_words = [](Extent extent) { return extent.count(); },
      .compulsory_bytes = [](Extent extent) { return 8 * extent.count(); },
      .extent_for =
          [](std::uint64_t bytes) {
            return Extent{1, bytes / 8};
          },
      .input_word = hashed_word,
      .reference = reference,
      .plan = plan,
  };
  return study;
}

}  // namespace bankwise::doubling
