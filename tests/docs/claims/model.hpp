// SPDX-License-Identifier: MIT
//
// Queries to the bank model for the table of claims.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "claims.hpp"
#include "tests/bank_patterns.hpp"

namespace bankwise::claims {

using banks::ByteOf;
using banks::Cost;
using banks::first_lanes;
using banks::Operation;

/// The byte address of each thread, from the index of its item of `size` bytes.
template <typename IndexOf>
ByteOf items(unsigned size, IndexOf index_of) {
  return [=](unsigned thread) { return std::uint32_t(size * index_of(thread)); };
}
template <typename IndexOf>
ByteOf words(IndexOf index_of) {
  return items(4, index_of);
}
inline ByteOf stride(unsigned of_words) {
  return words([=](unsigned thread) { return of_words * thread; });
}

inline const banks::Architecture& architecture(std::string_view name) {
  const banks::Architecture* found = banks::find_architecture(name);
  if (found == nullptr) throw std::runtime_error("no architecture " + std::string(name));
  return *found;
}

inline const banks::Rule& load_rule(std::string_view name, unsigned width) {
  const banks::Rule* rule = banks::find_rule(architecture(name), Operation::load, width);
  if (rule == nullptr) throw std::runtime_error("no loads of this width on " + std::string(name));
  return *rule;
}

inline Range passes(const Cost& cost) {
  return {double(cost.passes), double(cost.passes_max)};
}
inline Range conflicts(const Cost& cost) {
  return {double(cost.conflicts), double(cost.conflicts_max)};
}

/// The bank of a byte: the only bank in which it conflicts with a distant word.
inline unsigned bank_of(std::string_view name, std::uint32_t byte) {
  constexpr std::uint32_t far = 1U << 16;
  std::optional<unsigned> bank;
  for (unsigned candidate = 0; candidate < load_rule(name, 1).banks.count; ++candidate) {
    const Cost pair = banks::cost_of(name, Operation::load, 1, first_lanes(2),
                                     [=](unsigned lane) { return lane == 0 ? byte : far + 4 * candidate; });
    if (pair.passes != 2) continue;
    if (bank) throw std::runtime_error("a byte in two banks");
    bank = candidate;
  }
  if (!bank) throw std::runtime_error("a byte in no bank");
  return *bank;
}

/// The number of threads, among the first `threads`, that share the bank of thread 0.
inline double in_one_bank(std::string_view name, unsigned threads, const ByteOf& byte_of) {
  unsigned count = 0;
  for (unsigned t = 0; t < threads; ++t) count += bank_of(name, byte_of(t)) == bank_of(name, byte_of(0)) ? 1 : 0;
  return count;
}

}  // namespace bankwise::claims
