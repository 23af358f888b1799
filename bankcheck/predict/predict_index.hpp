// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <bankwise/banks/cost.hpp>

namespace bankwise::predict {

/// An access that is given as an index formula, and its cost.
struct Prediction {
  const banks::Architecture* architecture = nullptr;
  std::string index;
  banks::Operation operation = banks::Operation::load;
  unsigned width = 4;      ///< bytes per lane
  std::uint64_t mask = 0;  ///< active lanes
  std::vector<std::uint32_t> addresses;
  banks::Cost cost;

  banks::Access access() const { return {operation, width, mask, addresses}; }
};

/// The cost of one access in which each lane of `mask` accesses the element `index`, an IndexExpression in elements of
/// `width` bytes. Errors: UsageError for an invalid expression, for an address past 4 GiB, and for an operation, a
/// width or a lane that the architecture lacks.
Prediction predict_index(const banks::Architecture& architecture, banks::Operation operation, unsigned width,
                         std::uint64_t mask, const std::string& index);

/// The report for a terminal: numbers, lane groups, the picture of the banks.
std::string text_of(const Prediction& prediction, unsigned columns, bool colour);
std::string json_of(const Prediction& prediction);
std::string svg_of(const Prediction& prediction);

}  // namespace bankwise::predict
