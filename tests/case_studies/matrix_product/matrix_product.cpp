#include <algorithm>
#include <bit>
#include <cmath>

#include <bankwise/study/case_study.hpp>
#include "matrix_product_shapes.hpp"

namespace bankwise::matrix_product {

using namespace study;

namespace {

constexpr std::uint64_t tile = 32;
constexpr Variant variants[]{
    {"naive", {32, 8}, "32 x 32 tiles, one of them transposed: 32-way bank conflicts", {.tile = tile}},
    {"padded", {32, 8}, "a padded tile: no conflict", {.tile = tile}},
};
constexpr Side sides[]{{"m", &Extent::height, "Rows of the product", 1},
                       {"n", &Extent::width, "Columns of the product", 1},
                       {"k", &Extent::depth, "Products that each of its elements sums up", 1}};

std::uint32_t small_number(std::uint64_t i) { return std::bit_cast<std::uint32_t>(float(hashed_word(i) % 16)); }

constexpr Operand factors[]{
    {"a", [](Extent extent) { return extent.height * extent.depth; }, Element::f32, small_number},
    {"b", [](Extent extent) { return extent.depth * extent.width; }, Element::f32,
     [](std::uint64_t i) { return small_number(~i); }}};
constexpr Operand products[]{{"product", [](Extent extent) { return extent.height * extent.width; }, Element::f32}};

std::vector<Words> reference(Extent extent, std::span<const Words> inputs, const Variant&) {
  const auto [m, n, k] = extent;
  Words product(m * n);
  for (std::uint64_t row = 0; row < m; ++row) {
    std::vector<float> sums(n);
    for (std::uint64_t i = 0; i < k; ++i) {
      const auto factor = std::bit_cast<float>(inputs[0][row * k + i]);
      for (std::uint64_t x = 0; x < n; ++x) sums[x] += factor * std::bit_cast<float>(inputs[1][i * n + x]);
    }
    std::ranges::transform(sums, product.begin() + std::ptrdiff_t(row * n),
                           [](float sum) { return std::bit_cast<std::uint32_t>(sum); });
  }
  return {product};
}

Plan plan(const Variant& variant, Extent extent, unsigned) {
  const std::uint64_t groups = tiles(extent.height, tile) * tiles(extent.width, tile);
  if (groups == 0) return {};
  return {{},
          {KernelLaunch{"product_" + std::string(variant.name),
                        groups,
                        variant.group,
                        {input_slot, input_slot_at(1), output_slot, extent.height, extent.width, extent.depth}}}};
}

/// Cubes whose side is a multiple of 32.
Extent extent_for(std::uint64_t bytes) {
  const auto side = std::uint64_t(std::sqrt(double(bytes) / (3 * sizeof(float))));
  const std::uint64_t whole = std::max<std::uint64_t>(tile, side / tile * tile);
  return {whole, whole, whole};
}

}  // namespace

/// The product of an m x k and a k x n matrix of floats. The inputs are small whole numbers, so no addition rounds.
const CaseStudy& case_study() {
  static const CaseStudy study{
      .name = "matrix_product",
      .summary = "Product of two matrices of floats: tiles in shared memory, with and without bank conflicts",
      .kernel_prefix = "product_",
      .element = "multiplications",
      .sides = sides,
      .variants = variants,
      .baseline = "naive",
      .kernels = &gpu::matrix_product_kernels,
      .emulated = &emulator::matrix_product_emulated,
      .inputs = factors,
      .outputs = products,
      .extent_for = extent_for,
      .reference = reference,
      .plan = plan,
  };
  return study;
}

}  // namespace bankwise::matrix_product
