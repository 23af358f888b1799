#include "bankcheck/fit/change.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <iterator>
#include <map>
#include <set>
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

/// The bits that an XOR can change: those that choose a bank, and tear nothing apart.
struct BankBits {
  unsigned low, high;
  explicit BankBits(const FamilyBounds& bounds)
      : low(unsigned(std::countr_zero(std::bit_ceil(bounds.granule)))),
        high(unsigned(std::countr_zero(bounds.period))) {}
};

/// Each length as the row, and twice each: the number of the row is then shifted by one bit. Bits past the period of
/// the banks have no effect, and XORs that move bits up only rename banks.
std::vector<Change> row_xors(const FamilyBounds& bounds, const std::vector<std::uint32_t>& lengths) {
  const auto [low, high] = BankBits(bounds);
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

/// XORs of an offset with itself, shifted by fewer bits than they change, as Gray codes are made.
std::vector<Change> folds(const FamilyBounds& bounds) {
  const auto [low, high] = BankBits(bounds);
  std::vector<Change> changes;
  for (unsigned base = low; base < high; ++base) {
    for (unsigned bits = 2; base + bits <= high; ++bits) {
      for (unsigned row = base + 1; row < base + bits && std::uint64_t{1} << row < bounds.extent; ++row) {
        changes.push_back({{1U << row, bits, base}, {}});
      }
    }
  }
  return changes;
}

/// Whether an XOR stays in rows of `pitch` bytes.
bool fits_rows(const RowXor& swizzle, std::uint64_t pitch) {
  return pitch % (1U << (swizzle.base + swizzle.bits)) == 0;
}

/// The declared pitches if the array had rows of `row` bytes, at most three of them.
std::vector<std::uint64_t> pitches_with(const FamilyBounds& bounds, std::uint64_t row) {
  constexpr std::size_t max_pitches = 3;
  std::vector<std::uint64_t> pitches;
  for (const std::uint64_t pitch : bounds.pitches) {
    if (pitches.size() < max_pitches) pitches.push_back(pitch / bounds.pitches.front() * row);
  }
  return pitches;
}

Repitch repitch(const FamilyBounds& bounds, std::uint64_t row) {
  if (row == bounds.pitches.front()) return {};
  return {std::uint32_t(bounds.pitches.front()), std::uint32_t(row)};
}

/// Shorter rows, down to the bytes that are used.
std::vector<Change> shorter_rows(const FamilyBounds& bounds) {
  std::vector<Change> changes;
  if (bounds.used_row == 0) return changes;
  const std::uint64_t row = bounds.pitches.front();
  const std::uint64_t least = std::max<std::uint64_t>(bounds.used_row, row > bounds.period ? row - bounds.period : 1);
  for (std::uint64_t to = (least + bounds.alignment - 1) / bounds.alignment * bounds.alignment; to < row;
       to += bounds.alignment) {
    changes.push_back({{}, {}, repitch(bounds, to)});
  }
  return changes;
}

/// An index whose elements are `pitch` bytes apart, XORed into the last one. `planes`: bytes of a next index; 0: none.
std::vector<RowXor> xors_of_index(const BankBits& banks, std::uint64_t pitch, std::uint64_t planes,
                                  std::uint64_t extent) {
  std::vector<RowXor> xors;
  const auto [low, high] = banks;
  const std::uint64_t end = planes > 0 ? planes : extent;
  for (unsigned bits = 1; low + bits <= high; ++bits) {
    for (unsigned base = low; base + bits <= high; ++base) {
      for (std::uint64_t step = pitch; step <= 4 * pitch && step < end; step *= 2) {
        const std::uint64_t plane = planes % (step << bits) == 0 ? 0 : planes;  // 0: more planes change nothing
        xors.push_back({std::uint32_t(step), bits, base, std::uint32_t(plane)});
      }
    }
  }
  const auto bits = unsigned(std::countr_zero(std::bit_ceil(end / pitch)));
  const std::uint64_t plane = planes == pitch << bits ? 0 : planes;
  if (low + bits > high) xors.push_back({std::uint32_t(pitch), bits, low, std::uint32_t(plane)});
  return xors;
}

/// Each index but the last, or what it has above one or two bits, XORed into the last one, in rows of `row` bytes; and
/// all of its bits, so that it needs no mask: those past the period of the banks change nothing else.
std::vector<RowXor> index_xors(const FamilyBounds& bounds, std::uint64_t row) {
  const std::vector<std::uint64_t> pitches = pitches_with(bounds, row);
  const std::uint64_t extent = bounds.extent / bounds.pitches.front() * row;
  std::vector<RowXor> xors;
  for (std::size_t k = 0; k < pitches.size(); ++k) {
    const std::uint64_t planes =
        k + 1 < bounds.pitches.size() ? bounds.pitches[k + 1] / bounds.pitches.front() * row : 0;
    const std::vector<RowXor> more = xors_of_index(BankBits(bounds), pitches[k], planes, extent);
    std::ranges::copy_if(more, std::back_inserter(xors),
                         [&](const RowXor& swizzle) { return fits_rows(swizzle, row); });
  }
  return xors;
}

/// More rows in each plane, more planes in each of what planes make up: lengths that differ in the banks.
std::vector<Pad> more_rows(const FamilyBounds& bounds, std::uint64_t row) {
  constexpr std::uint64_t max_more = 8;
  const std::vector<std::uint64_t> pitches = pitches_with(bounds, row);
  const std::uint64_t extent = bounds.extent / bounds.pitches.front() * row;
  std::vector<Pad> pads;
  for (std::size_t k = 1; k < pitches.size() && pitches[k] < extent; ++k) {
    for (std::uint64_t more = 1; more <= max_more; ++more) {
      const std::uint64_t bytes = more * pitches[k - 1];
      if (bytes < bounds.extent) pads.push_back({std::uint32_t(pitches[k]), std::uint32_t(bytes)});
      if (bytes % bounds.period == 0) break;
    }
  }
  return pads;
}

/// Row lengths for an XOR: as declared, and the used bytes rounded up to powers of two, at most the period.
std::vector<std::uint32_t> rows_for_xor(const FamilyBounds& bounds) {
  const auto declared = std::uint32_t(bounds.pitches.front());
  const std::uint32_t used = bounds.used_row > 0 ? bounds.used_row : declared;
  std::vector<std::uint32_t> rows{declared};
  for (std::uint32_t unit = 2 * bounds.granule; unit <= bounds.period; unit *= 2) {
    rows.push_back((used + unit - 1) / unit * unit);
  }
  sort_distinct(rows);
  return rows;
}

/// A pad with an XOR, or with a second pad that is less frequent.
void add_combinations(const FamilyBounds& bounds, const std::vector<std::uint32_t>& lengths,
                      const std::vector<Change>& xors, Family& family) {
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
}

/// What the declared dimensions add: other lengths of each, and an XOR of one index into the last.
void add_declared(const FamilyBounds& bounds, Family& family) {
  const auto declared = std::uint32_t(bounds.pitches.front());
  if (declared >= bounds.extent) return;
  const std::vector<Change> shorter = shorter_rows(bounds);
  family.singles.insert(family.singles.end(), shorter.begin(), shorter.end());
  for (const Pad& pad : more_rows(bounds, declared)) family.singles.push_back({{}, {pad, Pad{}}});
  for (const Change& rows : shorter) {
    for (const Pad& pad : more_rows(bounds, rows.rows.to)) family.combinations.push_back({{}, {pad, Pad{}}, rows.rows});
  }
  for (std::uint32_t bytes = bounds.alignment; bytes < bounds.period; bytes += bounds.alignment) {
    for (const Pad& more : more_rows(bounds, declared)) {  // rows in a plane become more, of longer rows
      const std::uint32_t longer = more.bytes / declared * (declared + bytes);
      family.combinations.push_back({{}, {Pad{declared, bytes}, Pad{more.every, longer}}});
    }
  }
  for (const std::uint32_t row : rows_for_xor(bounds)) {
    for (const RowXor& swizzle : index_xors(bounds, row)) {
      const Repitch rows = repitch(bounds, row);
      (row == declared ? family.singles : family.combinations).push_back({swizzle, {}, rows});
      for (std::uint32_t bytes = bounds.alignment; bytes < bounds.period; bytes *= 2) {
        family.combinations.push_back({swizzle, {Pad{row, bytes}, Pad{}}, rows});
      }
      for (const Pad& more : more_rows(bounds, row)) family.combinations.push_back({swizzle, {more, Pad{}}, rows});
    }
  }
}

void sort_by_bytes(std::vector<Change>& changes, std::uint64_t extent) {
  sort_by_key(changes, [&](const Change& change) { return std::pair(change.kind(), change.bytes_of(extent)); });
  std::set<Change> known;  // declared dimensions may give what powers of two give, too
  std::erase_if(changes, [&](const Change& change) { return !known.insert(change).second; });
}

}  // namespace

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
  const std::vector<Change> folded = folds(bounds);
  family.singles.insert(family.singles.end(), xors.begin(), xors.end());
  family.singles.insert(family.singles.end(), folded.begin(), folded.end());
  for (const std::uint32_t every : lengths) {
    for (std::uint32_t bytes = bounds.alignment; bytes < bounds.period; bytes += bounds.alignment) {
      family.singles.push_back({{}, {Pad{every, bytes}, Pad{}}});
    }
  }
  add_combinations(bounds, lengths, xors, family);
  if (!bounds.pitches.empty() && bounds.pitches.front() % bounds.granule == 0) add_declared(bounds, family);
  sort_by_bytes(family.singles, bounds.extent);
  sort_by_bytes(family.combinations, bounds.extent);
  return family;
}

}  // namespace bankwise::fit
