// Internal to common/bankwise/banks: how an access is split for banks, and compute capability 1.x.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include <bankwise/banks/access.hpp>
#include <bankwise/banks/architecture.hpp>

namespace bankwise::banks {

/// The bytes [first, first + bytes) of each lane's access: what one request asks for.
struct Request {
  unsigned first, bytes;
};

template <Serving serving, class Visit>
void for_each_unit_as(const Rule& rule, const Access& access, std::uint64_t lanes, Request request, Visit visit) {
  const Banks& banks = rule.banks;
  const int unit_shift = std::countr_zero(banks.bytes), row_shift = std::countr_zero(banks.row_bytes);
  const int bank_bits = std::countr_zero(banks.count);
  const std::uint64_t bank_mask = banks.count - 1;
  const bool plain = banks.row_bytes == banks.count * banks.bytes;  // a row is one unit of every bank
  const auto visit_unit = [&](unsigned lane, std::uint64_t begin, std::uint64_t unit, std::uint64_t word) {
    const auto bank = unsigned(unit & bank_mask);
    if constexpr (serving == Serving::lanes) {
      visit(lane, bank, word * max_lanes + lane);
    } else if constexpr (serving == Serving::addresses) {
      visit(lane, bank, begin);
    } else {
      visit(lane, bank, word);
    }
  };
  if (plain && request.bytes <= banks.bytes) {  // aligned, so one unit per lane: a fast path for the usual case
    for_each_lane(lanes, [&](unsigned lane) {
      const std::uint64_t begin = std::uint64_t{access.addresses[lane]} + request.first, unit = begin >> unit_shift;
      visit_unit(lane, begin, unit, unit);
    });
    return;
  }
  const unsigned units = request.bytes > banks.bytes ? request.bytes / banks.bytes : 1;
  for_each_lane(lanes, [&](unsigned lane) {
    const std::uint64_t begin = std::uint64_t{access.addresses[lane]} + request.first;
    for (unsigned i = 0; i < units; ++i) {
      const std::uint64_t unit = (begin >> unit_shift) + i;
      visit_unit(lane, begin, unit, unit << unit_shift >> row_shift << bank_bits | (unit & bank_mask));
    }
  });
}

/// Calls `visit(lane, bank, key)` for each bank that each lane needs. What it delivers in one pass has one key.
template <class Visit>
void for_each_unit(const Rule& rule, const Access& access, std::uint64_t lanes, Request request, Visit visit) {
  switch (rule.serving) {
    case Serving::lanes: return for_each_unit_as<Serving::lanes>(rule, access, lanes, request, visit);
    case Serving::addresses: return for_each_unit_as<Serving::addresses>(rule, access, lanes, request, visit);
    case Serving::words:
    case Serving::one_broadcast:
    case Serving::copies:  // here and below, the banks of the destination
    case Serving::lines: return for_each_unit_as<Serving::words>(rule, access, lanes, request, visit);
  }
}

struct Steps {
  unsigned min = 0, max = 0;
};

/// Steps that a request of compute capability 1.x takes, under the best and under the worst of the choices that the
/// CUDA guide leaves to the hardware. Each step picks one word that is still wanted, serves all of its lanes, and
/// serves one lane of every other bank. `words`: what the lanes want, at most 16; word w lies in bank w mod 16.
Steps broadcast_steps(std::span<const std::uint64_t> words);

/// The step, counted from 0, in which each lane is served, under one of the best choices.
std::vector<unsigned> best_broadcast_order(std::span<const std::uint64_t> words);

}  // namespace bankwise::banks
