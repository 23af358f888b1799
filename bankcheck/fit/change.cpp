// SPDX-License-Identifier: MIT
#include "bankcheck/fit/change.hpp"

#include <fmt/format.h>

#include <bit>

namespace bankwise::fit {

std::string_view to_string(Kind kind) {
  constexpr std::string_view names[kind_count]{"as it is", "XOR", "pad", "two pads", "pad and XOR"};
  return names[int(kind)];
}

Kind Change::kind() const {
  const bool padded = pads[0].every > 0;
  if (swizzle.bits > 0) return padded ? Kind::pad_and_xor : Kind::row_xor;
  if (!padded) return Kind::identity;
  return pads[1].every > 0 ? Kind::two_pads : Kind::pad;
}

std::uint64_t Change::bytes_of(std::uint64_t bytes) const {
  if (swizzle.bits > 0) {
    const std::uint64_t block = std::uint64_t{1} << (swizzle.base + swizzle.bits);
    bytes = (bytes + block - 1) / block * block;
  }
  std::uint64_t all = bytes;
  for (const Pad& pad : pads) {
    if (pad.every > 0) all += (bytes + pad.every - 1) / pad.every * pad.bytes;
  }
  return all;
}

std::string to_text(const Change& change) {
  std::string text;
  if (change.swizzle.bits > 0) {
    const RowXor& one = change.swizzle;
    text = fmt::format("XOR of offset / {} mod {} into bits {}-{} of the offset", one.row, 1U << one.bits, one.base,
                       one.base + one.bits - 1);
  }
  for (const Pad& pad : change.pads) {
    if (pad.every == 0) continue;
    text += fmt::format("{}{} byte{} after every {}", text.empty() ? "" : ", ", pad.bytes, pad.bytes == 1 ? "" : "s",
                        pad.every);
  }
  return text.empty() ? "as it is" : text;
}

std::string cute_name(const Change& change, unsigned element) {
  const RowXor& one = change.swizzle;
  const bool named = change.kind() == Kind::row_xor && std::has_single_bit(one.row) && std::has_single_bit(element) &&
                     element <= 1U << one.base;
  if (!named) return "";
  const auto row = unsigned(std::countr_zero(one.row));
  return fmt::format("Swizzle<{}, {}, {}>", one.bits, one.base - unsigned(std::countr_zero(element)), row - one.base);
}

}  // namespace bankwise::fit
