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
std::string_view to_string(ChangeKind kind) {
  constexpr std::string_view names[]{
      "as it is", "XOR", "pad", "rows", "two pads", "pad and XOR", "sequential addressing"};
  return names[int(kind)];
}

ChangeKind Change::kind() const {
  if (sequential) return ChangeKind::sequential;
  if (rows.from > 0) return ChangeKind::repitch;
  const bool padded = pads[0].every > 0;
  if (swizzle.bits > 0) return padded ? ChangeKind::pad_and_xor : ChangeKind::row_xor;
  if (!padded) return ChangeKind::identity;
  return pads[1].every > 0 ? ChangeKind::two_pads : ChangeKind::pad;
}

std::uint64_t Change::bytes_of(std::uint64_t bytes) const {
  if (rows.from > 0) bytes = bytes / rows.from * rows.to + std::min<std::uint64_t>(bytes % rows.from, rows.to);
  if (swizzle.bits > 0) {
    const std::uint64_t block = swizzle.block();
    bytes = (bytes + block - 1) / block * block;
  }
  std::uint64_t padded = bytes;
  for (const Pad& pad : pads) {
    if (pad.every > 0) padded += bytes / pad.every * pad.bytes;
  }
  return padded;
}

void move_lanes(const Change& change, std::uint32_t offset, std::uint64_t mask, unsigned width,
                std::vector<std::uint32_t>& addresses) {
  banks::for_each_lane(mask, [&](unsigned lane) {
    if (lane >= addresses.size()) return;
    addresses[lane] = offset + std::uint32_t(change.sequential ? width * lane : change(addresses[lane] - offset));
  });
}

std::string to_text(const Change& change) {
  if (change.sequential) return "thread i adds element i + n / 2 to element i, and n halves";
  std::string text;
  if (change.rows.from > 0) text = fmt::format("rows of {} bytes instead of {}", change.rows.to, change.rows.from);
  if (change.swizzle.bits > 0) {
    const RowXor& swizzle = change.swizzle;
    text += fmt::format("{}XOR of offset{} / {} mod {} into bits {}-{} of the offset", text.empty() ? "" : ", ",
                        swizzle.plane > 0 ? fmt::format(" mod {}", swizzle.plane) : "", swizzle.row, 1U << swizzle.bits,
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
  const bool named = change.kind() == ChangeKind::row_xor && swizzle.plane == 0 && std::has_single_bit(swizzle.row) &&
                     std::has_single_bit(element) && element <= 1U << swizzle.base &&
                     swizzle.row >= 1U << (swizzle.base + swizzle.bits);
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

Placement::Placement(const trace::KernelTrace& trace, const std::vector<ChangedArray>& changed) {
  constexpr std::uint64_t unit = 256;
  for (const trace::Array& array : trace.arrays) places_.push_back({{}, array.offset, array.offset});
  std::map<std::uint64_t, std::uint64_t> growth;  // by offset: of the arrays there, then of those before, too
  for (const auto& [array, change, extent] : changed) {
    places_[array].change = change;
    const std::uint64_t bytes = std::max(change.bytes_of(extent), extent);  // a shorter array moves none
    growth[places_[array].offset] += (bytes - extent + unit - 1) / unit * unit;
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
