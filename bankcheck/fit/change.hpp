// Changes of the layout of an array in shared memory, as data: each byte offset moves to another one. All lengths are
// bytes from the start of the array.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <bankwise/trace/trace.hpp>

namespace bankwise::fit {

template <class T>
void sort_distinct(std::vector<T>& values) {
  std::ranges::sort(values);
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

/// Computes each key once; of equal ones the order stays.
template <class T, class Key>
void sort_by_key(std::vector<T>& values, Key key_of) {
  std::vector<std::pair<decltype(key_of(values.front())), std::size_t>> keys;  // with the old places
  keys.reserve(values.size());
  for (const T& value : values) keys.emplace_back(key_of(value), keys.size());
  std::ranges::sort(keys);
  std::vector<T> sorted;
  sorted.reserve(values.size());
  for (const auto& [key, place] : keys) sorted.push_back(std::move(values[place]));
  values = std::move(sorted);
}

/// x moves by `bytes` for each whole `every` before it. `every` 0: no pad.
struct Pad {
  std::uint32_t every = 0, bytes = 0;
  auto operator<=>(const Pad&) const = default;
};

/// Rows of `from` bytes become rows of `to` bytes. If they become shorter, nothing may lie in the bytes that are
/// dropped. `from` 0: no change.
struct Repitch {
  std::uint32_t from = 0, to = 0;
  auto operator<=>(const Repitch&) const = default;
};

/// x becomes x ^ (x mod plane / row mod 2^bits) << base: the number of the row in its plane, XORed into `bits` bits of
/// the column. `row` and `plane` are multiples of 2^(base + bits), or `row` is a power of two above 2^base and there is
/// no plane, so distinct offsets stay distinct. `bits` 0: no XOR. `plane` 0: all rows lie in one plane.
struct RowXor {
  std::uint32_t row = 0;
  unsigned bits = 0, base = 0;
  std::uint32_t plane = 0;
  auto operator<=>(const RowXor&) const = default;

  std::uint64_t unit() const { return std::uint64_t{1} << base; }            ///< bytes that stay together
  std::uint64_t block() const { return std::uint64_t{1} << (base + bits); }  ///< bytes that it moves inside

  std::uint64_t operator()(std::uint64_t x) const {
    if (bits == 0) return x;
    const std::uint64_t in_plane = plane > 0 ? x % plane : x;
    return x ^ (in_plane / row & ((std::uint64_t{1} << bits) - 1)) << base;
  }
};

/// From the simplest to the most complicated. The pads or the XOR of a repitch are a part of it.
enum class ChangeKind { identity, row_xor, pad, repitch, two_pads, pad_and_xor, sequential };
inline constexpr int kind_count = 6;  ///< of layouts

/// Bytes of a block on NVIDIA's GPUs; more need cudaFuncSetAttribute(), and only dynamic arrays can have more.
inline constexpr std::uint64_t shared_without_attribute = 48 * 1024;
/// "as it is", "XOR", "pad", "rows", "two pads", "pad and XOR", "sequential addressing".
std::string_view to_string(ChangeKind kind);

/// First the new rows, then the XOR, then both pads, each counted in offsets before padding: y = x ^ ..., and then
/// y + y / k1 * p1 + y / k2 * p2.
struct Change {
  RowXor swizzle;
  std::array<Pad, 2> pads;
  Repitch rows;
  bool sequential = false;  ///< no layout: a tree of sums adds neighbours, and no byte moves (sequential_edits())
  auto operator<=>(const Change&) const = default;

  ChangeKind kind() const;
  /// The XOR and the pads that it has.
  int parts() const { return int(swizzle.bits > 0) + int(pads[0].every > 0) + int(pads[1].every > 0); }
  std::uint64_t operator()(std::uint64_t x) const {
    const std::uint64_t y = swizzle(rows.from > 0 ? x / rows.from * rows.to + x % rows.from : x);
    std::uint64_t moved = y;
    for (const Pad& pad : pads) {
      if (pad.every > 0) moved += y / pad.every * pad.bytes;
    }
    return moved;
  }
  /// Bytes that an array of `bytes` takes afterwards: fewer, if rows become shorter.
  std::uint64_t bytes_of(std::uint64_t bytes) const;
};

/// Moves the addresses of the lanes of an access to an array at `offset`; with sequential addressing, of a tree's step.
void move_lanes(const Change& change, std::uint32_t offset, std::uint64_t mask, unsigned width,
                std::vector<std::uint32_t>& addresses);

/// A sentence without a verb: "pad of 4 bytes after every 128", "XOR of row / 128 B into bits 2-6 of the offset".
std::string to_text(const Change& change);

/// CuTe's name of the XOR for offsets in elements of `element` bytes: "Swizzle<5, 0, 5>"; "" if it has none.
std::string cute_name(const Change& change, unsigned element);

// --- The changes that are tried. The family is finite and stated, so "none is better" has a meaning. ---

/// What the changes of an array must respect.
struct FamilyBounds {
  std::uint64_t extent = 0;            ///< bytes of the array, or as far as its accesses reach
  std::uint32_t granule = 4;           ///< bytes that stay together: those of the widest access, at least 4
  std::uint32_t alignment = 4;         ///< what that access needs: the granule, or 4 for 12 bytes
  std::uint32_t period = 128;          ///< bytes after which the banks repeat
  std::vector<std::uint32_t> strides;  ///< lengths to try besides powers of two: multiples of the granule
  bool copied_in = false;              ///< filled by TMA, which knows three swizzles and no pad
  bool fixed = false;                  ///< filled by something that knows no layout but the identity
  /// Bytes of the array's declared rows, planes, ..., from the last dimension but one to the second; empty if they are
  /// not known. {128, 768}: rows of 128 bytes, six in each plane.
  std::vector<std::uint64_t> pitches;
  std::uint32_t used_row = 0;  ///< bytes of a row, from its begin, that must stay; 0: all
};

/// The identity first, then changes with one parameter group, then those with several; each part by kind and by bytes.
struct Family {
  std::vector<Change> singles;       ///< identity, row XORs, pads, other rows
  std::vector<Change> combinations;  ///< two pads, a pad and an XOR, other rows with an XOR or pads
  std::size_t size() const { return singles.size() + combinations.size(); }
};

Family family(const FamilyBounds& bounds);

/// The three swizzles of TMA, by bytes: 32, 64 and 128.
std::vector<Change> tma_swizzles();
/// "CU_TENSOR_MAP_SWIZZLE_128B"; "" if the change is none of them.
std::string tma_name(const Change& change);

// --- Where the arrays of a kernel lie once some of them are changed ---

/// A change of each array of a kernel, by its index in the trace. Arrays behind one that grows move by a multiple of
/// 256 bytes, which keeps the banks of all architectures.
class Placement {
 public:
  struct ChangedArray {
    std::uint32_t array;
    Change change;
    std::uint64_t extent;  ///< bytes of the array
  };
  Placement(const trace::KernelTrace& trace, const std::vector<ChangedArray>& changed);

  /// The new address of a byte of an array.
  std::uint32_t operator()(std::uint32_t array, std::uint32_t address) const {
    const ArrayPlace& place = places_[array];
    return std::uint32_t(place.moved + place.change(std::uint64_t{address} - place.offset));
  }
  /// Moves the addresses of a pattern.
  void move(trace::Pattern& pattern) const;

 private:
  struct ArrayPlace {
    Change change;
    std::uint64_t offset = 0, moved = 0;
  };
  std::vector<ArrayPlace> places_;
};

/// The trace with all accesses moved, without what a device compiler may merge.
trace::KernelTrace moved(trace::KernelTrace trace, const Placement& placement);

}  // namespace bankwise::fit
