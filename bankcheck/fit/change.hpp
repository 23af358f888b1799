// SPDX-License-Identifier: MIT
//
// Changes of the layout of an array in shared memory, as data: each byte offset moves to another one. All lengths are
// bytes from the start of the array.
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace bankwise::fit {

/// x moves by `bytes` for each whole `every` before it. `every` 0: no pad.
struct Pad {
  std::uint32_t every = 0, bytes = 0;
  auto operator<=>(const Pad&) const = default;
};

/// x becomes x ^ (x / row mod 2^bits) << base: the number of the row, XORed into `bits` bits of the column. `row` is a
/// multiple of 2^(base + bits), so distinct offsets stay distinct. `bits` 0: no XOR.
struct RowXor {
  std::uint32_t row = 0;
  unsigned bits = 0, base = 0;
  auto operator<=>(const RowXor&) const = default;
};

/// From the simplest to the most complicated.
enum class Kind { identity, row_xor, pad, two_pads, pad_and_xor };
inline constexpr int kind_count = 5;
/// "pad", "XOR", "two pads", "pad and XOR", "as it is".
std::string_view to_string(Kind kind);

/// First the XOR, then both pads, each counted in offsets before padding: y = x ^ ..., and then
/// y + y / k1 * p1 + y / k2 * p2.
struct Change {
  RowXor swizzle;
  std::array<Pad, 2> pads;
  auto operator<=>(const Change&) const = default;

  Kind kind() const;
  std::uint64_t operator()(std::uint64_t x) const {
    std::uint64_t y = x;
    if (swizzle.bits > 0) y ^= (x / swizzle.row & ((std::uint64_t{1} << swizzle.bits) - 1)) << swizzle.base;
    std::uint64_t moved = y;
    for (const Pad& pad : pads) {
      if (pad.every > 0) moved += y / pad.every * pad.bytes;
    }
    return moved;
  }
  /// Bytes that an array of `bytes` takes afterwards.
  std::uint64_t bytes_of(std::uint64_t bytes) const;
};

/// A sentence without a verb: "pad of 4 bytes after every 128", "XOR of row / 128 B into bits 2-6 of the offset".
std::string to_text(const Change& change);

/// CuTe's name of the XOR for offsets in elements of `element` bytes: "Swizzle<5, 0, 5>"; "" if it has none.
std::string cute_name(const Change& change, unsigned element);

}  // namespace bankwise::fit
