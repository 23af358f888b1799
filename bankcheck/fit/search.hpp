// SPDX-License-Identifier: MIT
//
// Finds the changes with the fewest passes among all of a family.
#pragma once

#include <cstdint>
#include <vector>

#include "bankcheck/fit/accesses.hpp"
#include "bankcheck/fit/code.hpp"

namespace bankwise::fit {

/// A change, and what it is worth.
struct Option {
  Change change;
  std::uint64_t passes = 0;  ///< over all architectures
  std::uint64_t bytes = 0;   ///< the size of the array afterwards
};

struct SearchResult {
  std::vector<Option> best_of_kind;  ///< fewest passes, then fewest bytes; identity first
  std::vector<Option> simple;        ///< the best longer rows, and the best change of the last index alone, if any
  std::vector<Option> front;         ///< no change has fewer passes with as few bytes; by bytes
  std::size_t family = 0;            ///< changes that the constraints allow
  std::size_t tried = 0;             ///< those decided exactly, by evaluation or by a bound
  std::uint64_t work = 0;            ///< lane groups evaluated
  bool exhaustive() const { return tried == family; }
};

struct SearchBudget {
  std::uint64_t bytes = ~std::uint64_t{0};  ///< that the array may have
  /// Lane groups to evaluate for combinations of two parameter groups; what remains is not tried. Changes with one
  /// group are always tried.
  std::uint64_t work = std::uint64_t{300} * 1000 * 1000;
};

/// Only changes that can be written for the shape take part. Among equal ones those that are simplest to write win.
SearchResult search(const Accesses& accesses, const Family& family, const ArrayShape& shape,
                    const SearchBudget& limits);

}  // namespace bankwise::fit
