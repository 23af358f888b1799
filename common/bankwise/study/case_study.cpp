#include <bankwise/study/case_study.hpp>

#include <fmt/format.h>

#include <stdexcept>

#include <bankwise/support/numbers.hpp>

namespace bankwise::study {

// The finaliser of splitmix64 (Steele, Lea, Flood 2014) over a Weyl sequence.
std::uint32_t hashed_word(std::uint64_t i) {
  std::uint64_t z = (i + 1) * 0x9E3779B97F4A7C15U;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
  return std::uint32_t(z ^ (z >> 31));
}

std::uint64_t Operand::words(Extent extent) const {
  return round_up(count(extent) * bytes_of(element), sizeof(std::uint32_t)) / sizeof(std::uint32_t);
}

void input_words(const Operand& input, std::uint64_t first, std::span<std::uint32_t> words) {
  const auto fill = [&](const auto& word) {
    for (std::size_t i = 0; i < words.size(); ++i) words[i] = word(first + i);
  };
  if (input.word == hashed_word) {
    fill([](std::uint64_t i) { return hashed_word(i); });  // inlined
  } else {
    fill(input.word);
  }
}

std::vector<Words> all_inputs(const CaseStudy& study, Extent extent) {
  std::vector<Words> inputs;
  for (const Operand& input : study.inputs) input_words(input, 0, inputs.emplace_back(input.words(extent)));
  return inputs;
}

std::uint64_t compulsory_bytes(const CaseStudy& study, Extent extent) {
  std::uint64_t bytes = 0;
  for (const auto operands : {study.inputs, study.outputs}) {
    for (const Operand& operand : operands) bytes += operand.count(extent) * bytes_of(operand.element);
  }
  return bytes;
}

std::uint64_t blocks(const Variant& variant, std::uint64_t tiles, unsigned units) {
  if (variant.blocks_per_unit == 0) return tiles;
  return std::min(tiles, std::uint64_t{variant.blocks_per_unit} * units);
}

std::uint64_t tiles(std::uint64_t count, std::uint64_t tile, std::uint64_t least) {
  return std::max(least, count / tile + (count % tile != 0));
}

std::string lengths_text(const CaseStudy& study, Extent extent) {
  std::string text;
  for (const auto length : {&Extent::height, &Extent::width, &Extent::depth}) {
    if (std::ranges::find(study.sides, length, &Side::length) == study.sides.end()) continue;
    text += fmt::format("{}{}", text.empty() ? "" : " x ", extent.*length);
  }
  return text;
}

std::string size_text(const CaseStudy& study, Extent extent) {
  return fmt::format("{} {}", study.sides.size() == 1 ? support::grouped(extent.count()) : lengths_text(study, extent),
                     study.element);
}

const gpu::KernelImage* find_image(const CaseStudy& study, std::string_view name) {
  for (const gpu::KernelSet* const set : {study.kernels, study.ranks == nullptr ? nullptr : study.ranks->kernels}) {
    if (set == nullptr) continue;
    for (const gpu::KernelImage& image : set->images) {
      if (image.name == name) return &image;
    }
  }
  return nullptr;
}

std::vector<KernelLaunch> Plan::launches() const {
  std::vector<KernelLaunch> launches;
  for (const Step& step : steps) {
    const auto* launch = std::get_if<KernelLaunch>(&step);
    if (launch == nullptr) throw std::runtime_error("a plan with exchanges between ranks needs all of them");
    launches.push_back(*launch);
  }
  return launches;
}

}  // namespace bankwise::study
