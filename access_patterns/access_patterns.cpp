#include "access_patterns.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "access_patterns_shapes.hpp"
#include "variants.hpp"

namespace bankwise::access_patterns {

using namespace study;

namespace {

// The block, LANES and WINDOWS of the kernels, and the factors of the values in the tile.
constexpr gpu::GroupShape block = shapes::load_4;
static_assert(block == shapes::store_4 && block == shapes::atomic_add && block == shapes::ldmatrix_x4 &&
              block == shapes::stmatrix_x4);
constexpr unsigned lanes = 32, windows = 2;
constexpr std::uint32_t filled = 0x9E3779B1, stored = 0x85EBCA6B;  // times the word's index; times the thread's

/// Accesses of one thread to one word.
struct Visits {
  unsigned thread;
  unsigned part;  ///< 0, 1, ...: which word of an access of several words
  std::uint32_t word, count;
};

// The value of a word after these accesses.
std::uint32_t store_it(std::uint32_t, const Visits& visits) { return visits.thread * stored + visits.part; }
std::uint32_t add_to_it(std::uint32_t value, const Visits& visits) {
  return value + visits.count * (visits.thread + 1);
}
std::uint32_t count_it(std::uint32_t value, const Visits& visits) { return value + visits.count; }
std::uint32_t swap_it(std::uint32_t value, const Visits& visits) {
  return value == visits.word * filled ? ~value : value;
}

/// A kernel: its name without the prefix, and its constants ACCESSES, STEP and TILE.
struct Kernel {
  std::string_view name;
  banks::Operation operation;
  unsigned width;
  unsigned accesses, step, tile;
  unsigned part = 0;  ///< bytes of the tile per warp; 0: all warps share it
  std::uint32_t (*leaves)(std::uint32_t value, const Visits& visits) = nullptr;  ///< null: a load

  std::uint64_t places() const { return windows * accesses; }
};

constexpr Kernel kernels[]{
    {"load_1", load, 1, 16, 256, 18432},
    {"load_2", load, 2, 16, 256, 18432},
    {"load_4", load, 4, 16, 256, 18432},
    {"load_8", load, 8, 16, 256, 18432},
    {"load_16", load, 16, 16, 256, 18432},
    {"store_1", store, 1, 4, 256, 32768, 2048, store_it},
    {"store_2", store, 2, 4, 256, 32768, 2048, store_it},
    {"store_4", store, 4, 4, 256, 32768, 2048, store_it},
    {"store_8", store, 8, 4, 256, 32768, 2048, store_it},
    {"store_16", store, 16, 2, 512, 32768, 2048, store_it},
    {"atomic_add", add, 4, 16, 256, 18432, 0, add_to_it},
    {"atomic_inc", increment, 4, 16, 256, 18432, 0, count_it},
    {"atomic_cas", compare_and_swap, 4, 16, 256, 18432, 0, swap_it},
    {"ldmatrix_x4", ldmatrix, 16, 16, 256, 18432},
    {"stmatrix_x4", stmatrix, 16, 2, 512, 32768, 2048, store_it},
};

const Kernel& kernel_of(const AccessPattern& pattern) {
  return *std::find_if(std::begin(kernels), std::end(kernels), [&](const Kernel& kernel) {
    return kernel.operation == pattern.operation && kernel.width == pattern.width;
  });
}

/// int data[s * t] for s = 1 ... 32.
template <std::size_t... i>
std::vector<AccessPattern> strides(std::index_sequence<i...>) {
  static const std::string names[]{"stride" + std::to_string(i + 1)...};
  static const std::string ideas[]{"int data[" + std::to_string(i + 1) + " * t]" +
                                   (i + 1 == 17 ? ", the fix for stride 16" : "")...};
  return {AccessPattern{names[i], ideas[i], load, 4, strided<i + 1>}...};
}

const std::vector<AccessPattern>& patterns() {
  static const std::vector<AccessPattern> patterns = [] {
    std::vector<AccessPattern> built = strides(std::make_index_sequence<32>());
    built.insert(built.end(), std::begin(fixed_patterns), std::end(fixed_patterns));
    return built;
  }();
  return patterns;
}

const std::vector<Variant>& variants() {
  static const std::vector<Variant> variants = [] {
    std::vector<Variant> built;
    for (const AccessPattern& pattern : patterns()) built.emplace_back(Variant{pattern.name, block, pattern.idea});
    return built;
  }();
  return variants;
}

std::size_t number_of(const Variant& variant) {
  const auto pattern = std::ranges::find(patterns(), variant.name, &AccessPattern::name);
  return std::size_t(pattern - patterns().begin());
}

/// Byte offset at which a lane starts.
std::uint32_t offset_of(const AccessPattern& pattern, unsigned lane) {
  const unsigned element = pattern.element(lane % lanes);
  return element == idle ? idle : element * pattern.width;
}

std::uint32_t input_word(std::uint64_t i) { return offset_of(patterns().at(i / lanes), unsigned(i % lanes)); }
std::uint64_t input_words(Extent) { return patterns().size() * lanes; }

/// Byte offsets of the words, or of the part of a word, that a lane accesses. In a matrix operation a lane accesses one
/// word of each of four rows whose addresses come from other lanes.
std::vector<std::uint32_t> parts_of(const AccessPattern& pattern, unsigned lane) {
  std::vector<std::uint32_t> parts;
  const unsigned rows = banks::matrix_rows(pattern.operation);
  for (unsigned row = lane / 4; row < rows; row += 8) parts.push_back(offset_of(pattern, row) + lane % 4 * 4);
  for (unsigned byte = 0; rows == 0 && byte < pattern.width; byte += 4)
    parts.push_back(offset_of(pattern, lane) + byte);
  return parts;
}

// Reads and writes a word of the tile, or the 1 or 2 bytes of a narrow access.
std::uint32_t bits_of(unsigned width) { return width < 4 ? (1U << 8 * width) - 1 : ~0U; }
std::uint32_t content(const Words& tile, std::uint64_t byte, unsigned width) {
  return tile.at(byte / 4) >> byte % 4 * 8 & bits_of(width);
}
void put(Words& tile, std::uint64_t byte, unsigned width, std::uint32_t value) {
  std::uint32_t& word = tile.at(byte / 4);
  const std::uint32_t bits = bits_of(width) << byte % 4 * 8;
  word = (word & ~bits) | (value << byte % 4 * 8 & bits);
}

/// Loads: the sum of all loaded values. All others: the sum of the final values at the addresses of the thread.
std::vector<Words> reference(Extent extent, std::span<const Words>, const Variant& variant) {
  const AccessPattern& pattern = patterns().at(number_of(variant));
  const Kernel& kernel = kernel_of(pattern);
  const std::uint64_t places = kernel.places(), count = extent.width * kernel.accesses;
  Words tile(kernel.tile / 4), sums(block.size());
  for (std::uint32_t w = 0; w < tile.size(); ++w) tile[w] = w * filled;

  const auto for_each_place = [&](auto visit) {
    for (unsigned thread = 0; thread < block.size(); ++thread) {
      if (offset_of(pattern, thread) == idle) continue;
      const std::uint64_t first = thread / lanes * kernel.part;
      for (std::uint64_t place = 0; place < places; ++place) {
        const std::uint64_t visits = count / places + (place < count % places ? 1 : 0);
        visit(thread, first + place * kernel.step, std::uint32_t(visits));
      }
    }
  };
  for_each_place([&](unsigned thread, std::uint64_t place, std::uint32_t visits) {
    const auto parts = parts_of(pattern, thread % lanes);
    for (unsigned part = 0; part < parts.size(); ++part) {
      const std::uint64_t byte = place + parts[part];
      if (kernel.leaves == nullptr) {
        sums[thread] += visits * content(tile, byte, kernel.width);
      } else if (visits > 0) {
        const std::uint32_t value = content(tile, byte, kernel.width);
        put(tile, byte, kernel.width, kernel.leaves(value, {thread, part, std::uint32_t(byte / 4), visits}));
      }
    }
  });
  if (kernel.leaves == nullptr) return {sums};
  for_each_place([&](unsigned thread, std::uint64_t place, std::uint32_t) {
    for (unsigned byte = 0; byte < kernel.width; byte += 4)
      sums[thread] += content(tile, place + offset_of(pattern, thread) + byte, kernel.width);
  });
  return {sums};
}

constexpr Operand input_arrays[]{{.name = "input", .count = input_words, .word = input_word}};
constexpr Operand output_arrays[]{{"output", [](Extent) { return std::uint64_t{block.size()}; }}};

Plan plan(const Variant& variant, Extent extent, unsigned) {
  const std::size_t number = number_of(variant);
  const std::string kernel = "access_" + std::string(kernel_of(patterns().at(number)).name);
  return {{sizeof(std::uint64_t)},
          {KernelLaunch{
              kernel, 1, block, {input_slot, output_slot, scratch_slot(0), std::uint64_t{number}, extent.width}}}};
}

std::vector<std::string> level_names(const Variant&, std::string_view) { return {"fill", "clock", "turns", "sum"}; }

}  // namespace

RepeatedAccess repeated_access(const Variant& variant, Extent extent) {
  const AccessPattern& pattern = patterns().at(number_of(variant));
  const std::uint64_t warps = block.size() / lanes;
  RepeatedAccess repeated{pattern.operation, pattern.width, 0, {}, extent.width * kernel_of(pattern).accesses * warps};
  for (unsigned lane = 0; lane < banks::max_lanes; ++lane) {
    repeated.addresses.push_back(offset_of(pattern, lane));
    if (repeated.addresses.back() != idle) repeated.mask |= std::uint64_t{1} << lane;
  }
  return repeated;
}

const CaseStudy& case_study() {
  static const CaseStudy study{
      .name = "access_patterns",
      .summary = "Microbenchmarks of shared-memory access patterns: passes by the bank model, measured clock cycles",
      .kernel_prefix = "access_",
      .element = "iterations",
      .variants = variants(),
      .kernels = &gpu::access_patterns_kernels,
      .emulated = &emulator::access_patterns_emulated,
      .inputs = input_arrays,
      .outputs = output_arrays,
      .extent_for =
          [](std::uint64_t bytes) {
            return Extent{1, bytes >> 16};
          },
      .reference = reference,
      .one_result = false,
      .plan = plan,
      .level_names = level_names,
  };
  return study;
}

}  // namespace bankwise::access_patterns
