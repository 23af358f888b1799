// A second implementation of the search: every change of the family, written out as formulas, on every access, with
// bank conflicts counted from the definition. It shares no code with bankcheck/fit.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <set>
#include <tuple>
#include <vector>

namespace brute_force {

/// A store of a full warp on sm_90: no broadcast of neighbours merges lane groups of stores.
struct Store {
  unsigned width = 4;
  std::vector<std::uint32_t> addresses;  ///< one for each of the 32 lanes
  std::uint64_t count = 1;
};

using Map = std::function<std::uint64_t(std::uint64_t)>;

inline std::uint64_t passes(const std::vector<Store>& stores, const Map& map) {
  std::uint64_t sum = 0;
  for (const Store& store : stores) {
    const std::size_t together = store.width <= 4 ? 32 : 128 / store.width;
    for (std::size_t first = 0; first < 32; first += together) {
      std::uint64_t words[32][32];  // the different words of each bank
      std::size_t count[32]{};
      for (std::size_t lane = first; lane < first + together; ++lane) {
        const std::uint64_t begin = map(store.addresses[lane]) / 4, words_of_lane = std::max(store.width / 4, 1U);
        for (std::uint64_t word = begin; word < begin + words_of_lane; ++word) {
          std::uint64_t *const here = words[word % 32], *const end = here + count[word % 32];
          if (std::find(here, end, word) != end) continue;
          *end = word;
          ++count[word % 32];
        }
      }
      sum += store.count * *std::max_element(count, count + 32);
    }
  }
  return sum;
}

struct Answer {
  std::uint64_t passes = 0, bytes = 0;
  std::size_t tried = 0;
};

/// The fewest passes, and the fewest bytes with them, of an array of `bytes` bytes with accesses of `width` bytes.
/// `strides` are tried as lengths, too.
inline Answer best(const std::vector<Store>& stores, std::uint64_t bytes, std::uint64_t width,
                   const std::vector<std::uint64_t>& strides) {
  std::set<std::uint64_t> lengths;
  for (std::uint64_t k = width; k < bytes; k *= 2) lengths.insert(k);
  for (const std::uint64_t k : strides) {
    if (k >= width && k % width == 0 && k < bytes) lengths.insert(k);
  }
  struct Xor {
    std::uint64_t row, values, unit;  // x ^ (x / row % values) * unit
  };
  std::set<std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>> xors;
  for (const std::uint64_t length : lengths) {
    for (const std::uint64_t row : {length, 2 * length}) {
      for (std::uint64_t unit = width; unit < 128; unit *= 2) {
        for (std::uint64_t values = 2; unit * values <= 128; values *= 2) {
          if (row < bytes && row % (unit * values) == 0) xors.insert({row, values, unit});
        }
      }
    }
  }
  Answer answer{passes(stores, [](std::uint64_t x) { return x; }), bytes, 1};
  const auto offer = [&](std::uint64_t needed, const Map& map) {
    ++answer.tried;
    const std::uint64_t cost = passes(stores, map);
    if (std::tuple(cost, needed) < std::tuple(answer.passes, answer.bytes)) {
      answer.passes = cost;
      answer.bytes = needed;
    }
  };
  const auto up = [](std::uint64_t x, std::uint64_t unit) { return (x + unit - 1) / unit; };
  for (const auto& [row, values, unit] : xors) {
    const auto swizzled = [row = row, values = values, unit = unit](std::uint64_t x) {
      return x ^ (x / row % values) * unit;
    };
    const std::uint64_t whole = up(bytes, unit * values) * unit * values;
    offer(whole, swizzled);
    for (const std::uint64_t k : lengths) {
      for (std::uint64_t p = width; p < 128; p *= 2) {
        offer(whole + up(whole, k) * p, [&](std::uint64_t x) { return swizzled(x) + swizzled(x) / k * p; });
      }
    }
  }
  for (const std::uint64_t k : lengths) {
    for (std::uint64_t p = width; p < 128; p += width) {
      offer(bytes + up(bytes, k) * p, [&](std::uint64_t x) { return x + x / k * p; });
    }
    for (std::uint64_t p = width; p < 128; p *= 2) {
      for (const std::uint64_t l : lengths) {
        for (std::uint64_t q = width; l > k && q < 128; q *= 2) {
          offer(bytes + up(bytes, k) * p + up(bytes, l) * q,
                [&](std::uint64_t x) { return x + x / k * p + x / l * q; });
        }
      }
    }
  }
  return answer;
}

}  // namespace brute_force
