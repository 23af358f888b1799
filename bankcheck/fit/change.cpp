#include "bankcheck/fit/change.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include <bankwise/support/text.hpp>

namespace bankwise::fit {
namespace {

/// Powers of two from the granule up to below the extent, and the strides.
std::vector<std::uint32_t> lengths_of(const FamilyBounds& bounds) {
  std::vector<std::uint32_t> lengths;
  for (std::uint64_t k = bounds.granule; k < bounds.extent; k *= 2) lengths.push_back(std::uint32_t(k));
  for (const std::uint32_t stride : bounds.strides) {
    if (stride >= bounds.granule && stride % bounds.granule == 0 && stride < bounds.extent) lengths.push_back(stride);
  }
  sort_distinct(lengths);
  return lengths;
}

/// Each length as the row, and twice each: the number of the row is then shifted by one bit. Bits past the period of
/// the banks have no effect, and XORs that move bits up only rename banks.
std::vector<Change> row_xors(const FamilyBounds& bounds, const std::vector<std::uint32_t>& lengths) {
  const auto low = unsigned(std::countr_zero(std::bit_ceil(bounds.granule)));
  const auto high = unsigned(std::countr_zero(bounds.period));
  std::vector<std::uint32_t> rows = lengths;
  for (const std::uint32_t length : lengths) rows.push_back(2 * length);
  sort_distinct(rows);
  std::vector<Change> changes;
  for (unsigned bits = 1; low + bits <= high; ++bits) {
    for (unsigned base = low; base + bits <= high; ++base) {
      for (const std::uint32_t row : rows) {
        if (row >= bounds.extent || row % (1U << (base + bits)) != 0) continue;
        changes.push_back({{row, bits, base}, {}});
      }
    }
  }
  return changes;
}

void sort_by_bytes(std::vector<Change>& changes, std::uint64_t extent) {
  std::vector<std::tuple<ChangeKind, std::uint64_t, std::size_t>> keys;  // computed once; the last is the old place
  keys.reserve(changes.size());
  for (const Change& change : changes) keys.emplace_back(change.kind(), change.bytes_of(extent), keys.size());
  std::ranges::sort(keys);
  std::vector<Change> sorted;
  sorted.reserve(changes.size());
  for (const auto& [kind, bytes, place] : keys) sorted.push_back(changes[place]);
  changes = std::move(sorted);
}

}  // namespace

std::string_view to_string(ChangeKind kind) {
  constexpr std::string_view names[kind_count]{"as it is", "XOR", "pad", "two pads", "pad and XOR"};
  return names[int(kind)];
}

ChangeKind Change::kind() const {
  const bool padded = pads[0].every > 0;
  if (swizzle.bits > 0) return padded ? ChangeKind::pad_and_xor : ChangeKind::row_xor;
  if (!padded) return ChangeKind::identity;
  return pads[1].every > 0 ? ChangeKind::two_pads : ChangeKind::pad;
}

std::uint64_t Change::bytes_of(std::uint64_t bytes) const {
  if (swizzle.bits > 0) {
    const std::uint64_t block = std::uint64_t{1} << (swizzle.base + swizzle.bits);
    bytes = (bytes + block - 1) / block * block;
  }
  std::uint64_t padded = bytes;
  for (const Pad& pad : pads) {
    if (pad.every > 0) padded += (bytes + pad.every - 1) / pad.every * pad.bytes;
  }
  return padded;
}

std::string to_text(const Change& change) {
  std::string text;
  if (change.swizzle.bits > 0) {
    const RowXor& swizzle = change.swizzle;
    text = fmt::format("XOR of offset / {} mod {} into bits {}-{} of the offset", swizzle.row, 1U << swizzle.bits,
                       swizzle.base, swizzle.base + swizzle.bits - 1);
  }
  for (const Pad& pad : change.pads) {
    if (pad.every == 0) continue;
    text += fmt::format("{}{} after every {}", text.empty() ? "" : ", ", support::plural(pad.bytes, "byte", "bytes"),
                        pad.every);
  }
  return text.empty() ? "as it is" : text;
}

std::string cute_name(const Change& change, unsigned element) {
  const RowXor& swizzle = change.swizzle;
  const bool named = change.kind() == ChangeKind::row_xor && std::has_single_bit(swizzle.row) &&
                     std::has_single_bit(element) && element <= 1U << swizzle.base;
  if (!named) return "";
  const auto row = unsigned(std::countr_zero(swizzle.row));
  return fmt::format("Swizzle<{}, {}, {}>", swizzle.bits, swizzle.base - unsigned(std::countr_zero(element)),
                     row - swizzle.base);
}

std::vector<Change> tma_swizzles() { return {{{128, 1, 4}, {}}, {{128, 2, 4}, {}}, {{128, 3, 4}, {}}}; }

std::string tma_name(const Change& change) {
  const auto swizzles = tma_swizzles();
  const auto named = std::ranges::find(swizzles, change);
  return named == swizzles.end() ? "" : fmt::format("CU_TENSOR_MAP_SWIZZLE_{}B", 32 << (named - swizzles.begin()));
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
      for (const Change& swizzled : xors) family.combinations.push_back({swizzled.swizzle, {pad, Pad{}}});
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

Placement::Placement(const trace::KernelTrace& trace, const std::vector<ChangedArray>& changed) {
  constexpr std::uint64_t unit = 256;
  for (const trace::Array& array : trace.arrays) places_.push_back({{}, array.offset, array.offset});
  std::map<std::uint64_t, std::uint64_t> growth;  // by offset: of the arrays there, then of those before, too
  for (const auto& [array, change, extent] : changed) {
    places_[array].change = change;
    growth[places_[array].offset] += (change.bytes_of(extent) - extent + unit - 1) / unit * unit;
  }
  std::uint64_t sum = 0;
  for (auto& [offset, bytes] : growth) bytes = sum += bytes;
  for (ArrayPlace& place : places_) {
    const auto behind = growth.lower_bound(place.offset);
    if (behind != growth.begin()) place.moved += std::prev(behind)->second;
  }
}

void Placement::move(trace::Pattern& pattern) const {
  banks::for_each_lane(pattern.mask, [&](unsigned lane) {
    if (lane >= pattern.addresses.size()) return;  // a row of a matrix that no lane gives
    const std::uint32_t array = pattern.lane_arrays.empty() ? pattern.array : pattern.lane_arrays[lane];
    pattern.addresses[lane] = (*this)(array, pattern.addresses[lane]);
  });
}

trace::KernelTrace moved(trace::KernelTrace trace, const Placement& placement) {
  // Which neighbours a device compiler would merge is not known for the new addresses.
  trace.merged.reset();
  for (trace::Pattern& pattern : trace.patterns) placement.move(pattern);
  return trace;
}

}  // namespace bankwise::fit
