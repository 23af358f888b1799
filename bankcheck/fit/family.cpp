// SPDX-License-Identifier: MIT
#include "bankcheck/fit/family.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <tuple>

namespace bankwise::fit {
namespace {

/// Powers of two from the granule up to below the extent, and the strides.
std::vector<std::uint32_t> lengths_of(const FamilyBounds& bounds) {
  std::vector<std::uint32_t> all;
  for (std::uint64_t k = bounds.granule; k < bounds.extent; k *= 2) all.push_back(std::uint32_t(k));
  for (const std::uint32_t stride : bounds.strides) {
    if (stride >= bounds.granule && stride % bounds.granule == 0 && stride < bounds.extent) all.push_back(stride);
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

/// Each length as the row, and twice each: the number of the row is then shifted by one bit. Bits past the period of
/// the banks have no effect, and XORs that move bits up only rename banks.
std::vector<Change> row_xors(const FamilyBounds& bounds, const std::vector<std::uint32_t>& lengths) {
  const auto low = unsigned(std::countr_zero(std::bit_ceil(bounds.granule)));
  const auto high = unsigned(std::countr_zero(bounds.period));
  std::vector<std::uint32_t> rows = lengths;
  for (const std::uint32_t length : lengths) rows.push_back(2 * length);
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  std::vector<Change> all;
  for (unsigned bits = 1; low + bits <= high; ++bits) {
    for (unsigned base = low; base + bits <= high; ++base) {
      for (const std::uint32_t row : rows) {
        if (row >= bounds.extent || row % (1U << (base + bits)) != 0) continue;
        all.push_back({{row, bits, base}, {}});
      }
    }
  }
  return all;
}

void sort_by_bytes(std::vector<Change>& changes, std::uint64_t extent) {
  std::stable_sort(changes.begin(), changes.end(), [&](const Change& a, const Change& b) {
    return std::tuple(a.kind(), a.bytes_of(extent)) < std::tuple(b.kind(), b.bytes_of(extent));
  });
}

}  // namespace

std::vector<Change> tma_swizzles() {
  return {{{128, 1, 4}, {}}, {{128, 2, 4}, {}}, {{128, 3, 4}, {}}};
}

std::string tma_name(const Change& change) {
  const auto all = tma_swizzles();
  const auto found = std::find(all.begin(), all.end(), change);
  return found == all.end() ? "" : fmt::format("CU_TENSOR_MAP_SWIZZLE_{}B", 32 << (found - all.begin()));
}

Family family(const FamilyBounds& bounds) {
  Family family{{Change{}}, {}};
  if (bounds.fixed) return family;
  if (bounds.copied_in) {
    for (const Change& change : tma_swizzles()) {
      if (bounds.granule <= 16 && change.swizzle.row < bounds.extent) family.singles.push_back(change);
    }
    return family;
  }
  const std::vector<std::uint32_t> lengths = lengths_of(bounds);
  const std::vector<Change> xors = row_xors(bounds, lengths);
  family.singles.insert(family.singles.end(), xors.begin(), xors.end());
  for (const std::uint32_t every : lengths) {
    for (std::uint32_t bytes = bounds.alignment; bytes < bounds.period; bytes += bounds.alignment) {
      family.singles.push_back({{}, {Pad{every, bytes}, Pad{}}});
    }
  }
  for (const std::uint32_t every : lengths) {
    for (std::uint32_t bytes = bounds.alignment; bytes < bounds.period; bytes *= 2) {
      const Pad pad{every, bytes};
      for (const Change& one : xors) family.combinations.push_back({one.swizzle, {pad, Pad{}}});
      for (const std::uint32_t more : lengths) {
        for (std::uint32_t second = bounds.alignment; more > every && second < bounds.period; second *= 2) {
          family.combinations.push_back({{}, {pad, Pad{more, second}}});
        }
      }
    }
  }
  sort_by_bytes(family.singles, bounds.extent);
  sort_by_bytes(family.combinations, bounds.extent);
  return family;
}

}  // namespace bankwise::fit
