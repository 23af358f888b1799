#include "variants.hpp"

#include <algorithm>
#include <cmath>

namespace bankwise::transpose {

using namespace study;

namespace {

/// The kernels copy bits, but cuBLAS multiplies floats by 1. An exponent field from 64 to 127 makes every word a normal
/// float, which the multiplication preserves. It fixes two of the 32 bits.
std::uint32_t input_word(std::uint64_t i) { return (hashed_word(i) & 0xBFFFFFFFU) | 0x20000000U; }

/// Works in strips of columns; otherwise every word of a large matrix would cost a cache line.
std::vector<Words> reference(Extent extent, std::span<const Words> inputs, const Variant&) {
  constexpr std::uint64_t strip = 16;
  const Words& input = inputs[0];
  Words output(input.size());
  for (std::uint64_t left = 0; left < extent.width; left += strip) {
    const std::uint64_t right = std::min(extent.width, left + strip);
    for (std::uint64_t row = 0; row < extent.height; ++row) {
      for (std::uint64_t column = left; column < right; ++column) {
        output[column * extent.height + row] = input[row * extent.width + column];
      }
    }
  }
  return {output};
}

constexpr Operand input_arrays[]{
    {.name = "input", .count = [](Extent extent) { return extent.count(); }, .word = input_word}};
constexpr Operand output_arrays[]{{"output", [](Extent extent) { return extent.count(); }}};

Plan plan(const Variant& variant, Extent extent, unsigned) {
  const std::uint64_t side = variant.tile != 0 ? variant.tile : variant.group.x;
  const std::uint64_t groups = tiles(extent.height, side) * tiles(extent.width, side);
  if (groups == 0) return {};
  return {{},
          {KernelLaunch{"transpose_" + std::string(variant.name),
                        groups,
                        variant.group,
                        {input_slot, output_slot, extent.height, extent.width}}}};
}

/// A square whose side is a multiple of 32.
Extent extent_for(std::uint64_t bytes) {
  const auto side = std::uint64_t(std::sqrt(double(bytes) / (2 * word_bytes)));
  const std::uint64_t whole = std::max<std::uint64_t>(32, side / 32 * 32);
  return {whole, whole};
}

std::vector<std::string> level_names(const Variant&, std::string_view) { return {"rows in", "columns out"}; }

}  // namespace

const CaseStudy& case_study() {
  static const CaseStudy study{
      .name = "transpose",
      .summary = "Transpose of a matrix of words: tiles in shared memory, with and without bank conflicts",
      .kernel_prefix = "transpose_",
      .element = "words",
      .sides = matrix_sides,
      .variants = variants,
      .baseline = "naive",
      .kernels = &gpu::transpose_kernels,
      .emulated = &emulator::transpose_emulated,
      .inputs = input_arrays,
      .outputs = output_arrays,
      .extent_for = extent_for,
      .reference = reference,
      .plan = plan,
      .level_names = level_names,
      .ranks = &ranks,
  };
  return study;
}

}  // namespace bankwise::transpose
