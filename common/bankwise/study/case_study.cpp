// SPDX-License-Identifier: MIT
#include <bankwise/study/case_study.hpp>

#include <fmt/format.h>

#include <algorithm>

#include <bankwise/support/quantity.hpp>

namespace bankwise {

// The finaliser of splitmix64 (Steele, Lea, Flood 2014) over a Weyl sequence.
std::uint32_t hashed_word(std::uint64_t i) {
  std::uint64_t z = (i + 1) * 0x9E3779B97F4A7C15U;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
  return std::uint32_t(z ^ (z >> 31));
}

void input_words(const CaseStudy& study, std::uint64_t first, std::span<std::uint32_t> words) {
  const auto fill = [&](const auto& word) {
    for (std::size_t i = 0; i < words.size(); ++i) words[i] = word(first + i);
  };
  if (study.input_word == hashed_word) {
    fill([](std::uint64_t i) { return hashed_word(i); });  // inlined
  } else {
    fill(study.input_word);
  }
}

std::uint64_t blocks(const Variant& variant, std::uint64_t tiles, unsigned units) {
  if (variant.blocks_per_unit == 0) return tiles;
  return std::min(tiles, std::uint64_t{variant.blocks_per_unit} * units);
}

std::uint64_t tiles(std::uint64_t count, std::uint64_t tile, std::uint64_t least) {
  return std::max(least, count / tile + (count % tile != 0));
}

std::string size_text(const CaseStudy& study, Extent extent) {
  if (study.sides.size() == 1) return fmt::format("{} {}", format_count(extent.count()), study.element);
  return fmt::format("{} x {} {}", extent.height, extent.width, study.element);
}

const gpu::KernelImage* find_image(const CaseStudy& study, std::string_view name) {
  const auto& images = study.kernels->images;
  const auto found = std::find_if(images.begin(), images.end(), [&](const auto& image) { return image.name == name; });
  return found == images.end() ? nullptr : &*found;
}

}  // namespace bankwise
