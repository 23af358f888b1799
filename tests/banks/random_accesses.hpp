// Accesses of typical and untypical kernels, from a seed: the same with every standard library.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "tests/bank_patterns.hpp"

namespace bankwise::banks {

struct RandomAccess {
  Operation operation = Operation::load;
  unsigned width = 4;
  std::uint64_t mask = 0;
  std::vector<std::uint32_t> addresses, sources;

  Access access() const { return {operation, width, mask, addresses, sources}; }
};

inline std::string to_text(const RandomAccess& random) {
  std::string text = std::string(to_string(random.operation)) + ", " + std::to_string(random.width) + " bytes:";
  for (unsigned lane = 0; lane < max_lanes; ++lane) {
    if ((random.mask >> lane & 1) == 0) continue;
    text += " " + std::to_string(lane) + ":" +
            (lane < random.addresses.size() ? std::to_string(random.addresses[lane]) : "?");
  }
  return text;
}

class RandomAccesses {
 public:
  explicit RandomAccesses(unsigned seed) : random_(seed) {}

  /// An access of `lanes` lanes. It is well-formed, but the architecture may have no such instruction.
  RandomAccess next(unsigned lanes) {
    RandomAccess result;
    const unsigned kind = below(10);
    result.operation = kind < 5 ? Operation::load : kind < 8 ? Operation::store : Operation(below(operation_count));
    constexpr unsigned widths[]{1, 2, 4, 8, 12, 16};
    result.width = widths[below(6)];
    const bool copies = is_copy(result.operation);
    if (kind >= 8 && result.operation > Operation::store && below(4) > 0) {
      result.width = matrix_rows(result.operation) > 0 ? 16 : copies ? 4U << below(3) : 4;  // most of these have it
    }
    result.mask = mask(lanes);
    // A 12-byte element requires only the alignment of its words.
    const unsigned unit = result.width == 12 ? 4 : result.width;
    result.addresses.resize(max_lanes);
    fill(result.addresses, unit, result.width);
    if (copies) {
      result.sources.resize(max_lanes);
      fill(result.sources, unit, result.width);
      if (below(2) == 0) std::fill_n(result.sources.begin(), below(max_lanes), result.sources[0]);
      if (below(4) == 0) std::fill_n(result.sources.begin() + below(32), 1 + below(32), no_source);
    }
    return result;
  }

  unsigned below(unsigned limit) { return unsigned(random_() % limit); }

 private:
  std::uint64_t mask(unsigned lanes) {
    const std::uint64_t all = first_lanes(lanes), any = std::uint64_t{random_()} << 32 | random_();
    const std::uint64_t other = std::uint64_t{random_()} << 32 | random_();
    switch (below(9)) {
      case 0: return all & any;
      case 1: return all & any & other;
      case 2: return all & (any | other);
      case 3: return std::uint64_t{1} << below(lanes);
      case 4: return first_lanes(1 + below(lanes));
      case 5: return all & (std::uint64_t{0xff} << 8 * below(lanes / 8));
      case 6: return all & (std::uint64_t{1} << below(lanes) | std::uint64_t{1} << below(lanes));
      case 7: return below(8) == 0 ? 0 : all;
      default: return all;
    }
  }

  void fill(std::vector<std::uint32_t>& bytes, unsigned unit, unsigned width) {
    const auto set = [&](auto&& element_of) {
      for (unsigned lane = 0; lane < max_lanes; ++lane) bytes[lane] = unit * std::uint32_t(element_of(lane));
    };
    const unsigned elements = 16384 / unit, stride = below(42), base = below(64), words = 1 + below(8);
    const unsigned run = 1U << below(7), step = 1 + below(9);
    std::vector<unsigned> drawn(max_lanes), permuted(max_lanes);
    for (auto& one : drawn) one = below(elements);
    std::iota(permuted.begin(), permuted.end(), 0U);
    for (unsigned lane = max_lanes; lane > 1; --lane) std::swap(permuted[lane - 1], permuted[below(lane)]);
    switch (below(11)) {
      case 0: return set([&](unsigned lane) { return drawn[lane]; });
      case 1: return set([&](unsigned) { return drawn[below(words)]; });
      case 2: return set([&](unsigned lane) { return base + stride * lane; });
      case 3: return set([&](unsigned lane) { return base + step * (width == 12 ? 3 : 1) * permuted[lane]; });
      case 4: {  // equal neighbours, in all lanes or with one exception
        const unsigned distance = 1 + below(2), odd_one_out = below(2 * max_lanes);
        return set([&](unsigned lane) { return drawn[lane & ~distance] % (run * 64) + (lane == odd_one_out ? 1 : 0); });
      }
      case 5:  // one kind of neighbours per half-warp
        return set([&](unsigned lane) { return drawn[lane & ~(lane & 16 ? 1U : 2U)] % (run * 16); });
      case 6: {  // a swizzled tile
        const unsigned columns = 4U << below(4), column = below(columns);
        return set(
            [&](unsigned lane) { return lane / run * columns * run + ((column + lane % run) ^ (lane % columns)); });
      }
      case 7: {  // a tile, read by columns
        const unsigned pitch = step * 4 * (1 + below(16)) + below(4);
        return set([&](unsigned lane) { return lane % run * pitch + lane / run; });
      }
      case 8: {  // far away
        const unsigned far = 0x7ffff000U / unit + below(0x70000000U / unit);
        return set([&](unsigned lane) { return far + drawn[lane] % (run * 32); });
      }
      case 9: return set([&](unsigned lane) { return base + lane % run * step; });
      default: return set([&](unsigned lane) { return base + lane / run * stride; });
    }
  }

  std::mt19937 random_;
};

}  // namespace bankwise::banks
