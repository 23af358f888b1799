// SPDX-License-Identifier: MIT
//
// Internal to common/banks: how an access falls apart into what banks deliver.
#pragma once

#include <bit>
#include <cstdint>

#include "bankwise/banks/access.hpp"
#include "bankwise/banks/architecture.hpp"

namespace bankwise::banks {

/// Calls `visit(lane)` for each lane of the mask, in order.
template <class Visit>
void for_each_lane(std::uint64_t mask, Visit visit) {
  for (; mask != 0; mask &= mask - 1) visit(unsigned(std::countr_zero(mask)));
}

/// The bytes [first, first + bytes) of each lane's access: what one request asks for.
struct Request {
  unsigned first, bytes;
};

/// Bytes of one request of an access: all of it, unless the rule splits it.
inline unsigned request_bytes(const Rule& rule, unsigned width) {
  return rule.request_bytes != 0 && rule.request_bytes < width ? rule.request_bytes : width;
}

/// Calls `visit(lane, bank, key)` for each bank that each lane needs; what the bank delivers once has one key.
template <class Visit>
void for_each_unit(const Rule& rule, const Access& access, std::uint64_t lanes, Request request, Visit visit) {
  const Banks& banks = rule.banks;
  const int unit_shift = std::countr_zero(banks.bytes), row_shift = std::countr_zero(banks.row_bytes);
  for_each_lane(lanes, [&](unsigned lane) {
    const std::uint64_t begin = std::uint64_t{access.addresses[lane]} + request.first;
    const std::uint64_t last = begin + request.bytes - 1;
    for (std::uint64_t unit = begin >> unit_shift; unit <= last >> unit_shift; ++unit) {
      const std::uint64_t bank = unit & (banks.count - 1);
      const std::uint64_t word = (unit << unit_shift >> row_shift) * banks.count + bank;
      const std::uint64_t keys[]{word, word * most_lanes + lane, begin, word};  // in the order of Serving
      visit(lane, unsigned(bank), keys[int(rule.serving)]);
    }
  });
}

}  // namespace bankwise::banks
