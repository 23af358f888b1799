// SPDX-License-Identifier: MIT
#include "access_patterns.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "variants.hpp"

namespace bankwise::gpu {
extern const KernelSet access_patterns_kernels;
}
namespace bankwise::emulator {
extern const KernelSet access_patterns_emulated;
}

namespace bankwise::access_patterns {
namespace {

// What the kernels call BLOCK, LANES and so on.
constexpr gpu::GroupShape block{512, 1};
constexpr unsigned lanes = 32, step = 256, windows = 2;
constexpr unsigned accesses_of(const Pattern& pattern) {
  return pattern.operation == store ? 4 : 16;
}
constexpr unsigned tile_words(const Pattern& pattern) {
  return (pattern.operation == store ? 32768 : 18432) / 4;
}

/// int data[s * t] for s = 1 ... 32.
template <std::size_t... i>
std::vector<Pattern> strides(std::index_sequence<i...>) {
  static const std::string names[]{"stride" + std::to_string(i + 1)...};
  static const std::string ideas[]{"int data[" + std::to_string(i + 1) + " * t]" +
                                   (i + 1 == 17 ? ", the cure of 16" : "")...};
  return {Pattern{names[i], ideas[i], load, 4, strided<i + 1>}...};
}

const std::vector<Pattern>& patterns() {
  static const std::vector<Pattern> all = [] {
    std::vector<Pattern> list = strides(std::make_index_sequence<32>());
    list.insert(list.end(), std::begin(fixed_patterns), std::end(fixed_patterns));
    return list;
  }();
  return all;
}

const std::vector<Variant>& variants() {
  static const std::vector<Variant> all = [] {
    std::vector<Variant> list;
    for (const Pattern& pattern : patterns()) list.push_back({pattern.name, block, pattern.idea});
    return list;
  }();
  return all;
}

std::size_t number_of(const Variant& variant) {
  const auto found =
      std::find_if(patterns().begin(), patterns().end(), [&](const Pattern& p) { return p.name == variant.name; });
  return std::size_t(found - patterns().begin());
}

/// Where a lane begins, in bytes.
std::uint32_t offset_of(const Pattern& pattern, unsigned lane) {
  const unsigned element = pattern.element(lane % lanes);
  return element == idle ? idle : element * pattern.width;
}

std::uint32_t input_word(std::uint64_t i) {
  return offset_of(patterns().at(i / lanes), unsigned(i % lanes));
}

std::uint64_t input_words(Extent) {
  return patterns().size() * lanes;
}

/// What a lane finds at a byte: 1, 2 or 4 bytes, or the sum of several words.
std::uint32_t content(const std::vector<std::uint32_t>& tile, std::uint32_t byte, unsigned width) {
  std::uint32_t sum = 0;
  for (unsigned part = 0; part < width; part += 4) {
    std::uint32_t word = 0;
    std::memcpy(&word, reinterpret_cast<const char*>(tile.data()) + byte + part, std::min(width, 4U));
    sum += word;
  }
  return sum;
}

/// Loads add up what they find each time they come by; of stores, what lies in their places at the end is added up.
Words reference(const Variant& variant, Extent extent) {
  const Pattern& pattern = patterns().at(number_of(variant));
  std::vector<std::uint32_t> tile(tile_words(pattern));
  for (std::uint32_t w = 0; w < tile.size(); ++w) tile[w] = w * 0x9E3779B1U;

  const bool stores = pattern.operation == store;
  const std::uint64_t places = windows * accesses_of(pattern), count = extent.width * accesses_of(pattern);
  Words sums(block.size());
  for (unsigned thread = 0; thread < block.size(); ++thread) {
    const std::uint32_t offset = offset_of(pattern, thread);
    if (offset == idle) continue;
    const std::uint64_t part = stores ? thread / lanes * places * step : 0;
    for (std::uint64_t place = 0; place < places; ++place) {
      const auto byte = std::uint32_t(part + offset + place * step);
      const std::uint64_t visits = count / places + (place < count % places ? 1 : 0);
      if (stores && visits > 0) tile.at(byte / 4) = byte / 4 * 0x85EBCA6BU;
      sums[thread] += (stores ? 1 : std::uint32_t(visits)) * content(tile, byte, pattern.width);
    }
  }
  return sums;
}

Plan plan(const Variant& variant, Extent extent, unsigned) {
  const std::size_t number = number_of(variant);
  const Pattern& pattern = patterns().at(number);
  const std::string kernel =
      "access_" + std::string(to_string(pattern.operation)) + "_" + std::to_string(pattern.width);
  return {{sizeof(std::uint64_t)},
          {{kernel, 1, block, {input_slot, output_slot, scratch_slot(0), std::uint64_t{number}, extent.width}}}};
}

RepeatedAccess access(const Variant& variant, Extent extent) {
  const Pattern& pattern = patterns().at(number_of(variant));
  const std::uint64_t warps = block.size() / lanes;
  RepeatedAccess repeated{pattern.operation, pattern.width, 0, {}, extent.width * accesses_of(pattern) * warps};
  for (unsigned lane = 0; lane < banks::most_lanes; ++lane) {
    repeated.addresses.push_back(offset_of(pattern, lane));
    if (repeated.addresses.back() != idle) repeated.mask |= std::uint64_t{1} << lane;
  }
  return repeated;
}

std::vector<std::string> level_names(const Variant&, std::string_view) {
  return {"fill", "clock", "turns", "sum"};
}

}  // namespace

const CaseStudy& case_study() {
  static const CaseStudy study{
      .name = "access_patterns",
      .summary = "Single accesses to shared memory: what the bank model says and what the clock says",
      .kernel_prefix = "access_",
      .element = "turns",
      .variants = variants(),
      .kernels = &gpu::access_patterns_kernels,
      .emulated = &emulator::access_patterns_emulated,
      .input_words = input_words,
      .output_words = [](Extent) { return std::uint64_t{block.size()}; },
      .compulsory_bytes = [](Extent extent) { return 4 * (input_words(extent) + block.size()); },
      .extent_for =
          [](std::uint64_t bytes) {
            return Extent{1, bytes >> 16};
          },
      .input_word = input_word,
      .reference_of = reference,
      .plan = plan,
      .level_names = level_names,
      .access = access,
  };
  return study;
}

}  // namespace bankwise::access_patterns
