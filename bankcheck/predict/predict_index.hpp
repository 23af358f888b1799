// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <bankwise/banks/cost.hpp>

namespace bankwise {

/// An access written as a formula, and what it costs.
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

/// The cost of the lanes of `mask` at the element `index`, an IndexExpression in elements of `width` bytes.
/// Errors: UsageError for an expression that is none or leaves shared memory's 4 GiB of addresses, for an operation, a
/// width or a lane that the architecture lacks.
Prediction predict_index(const banks::Architecture& architecture, banks::Operation operation, unsigned width,
                         std::uint64_t mask, const std::string& index);

/// For a person: numbers, lane groups, the picture of the banks.
std::string text_of(const Prediction& prediction, unsigned columns, bool colour);
std::string json_of(const Prediction& prediction);
std::string svg_of(const Prediction& prediction);

}  // namespace bankwise
