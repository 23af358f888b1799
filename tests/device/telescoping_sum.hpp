// SPDX-License-Identifier: MIT
//
// Inputs that look random and whose results follow from a formula (telescoping_sum/fill.cuh). The device generates and
// checks them, so neither 10,000 runs nor 34 gigabytes occupy the host.
#pragma once

#include <string>

#include "bare_launch.hpp"

namespace bankwise {

/// How a case study's result follows from the formula: the key "formula" of its study.json.
struct Law {
  const CaseStudy* study;
  std::uint64_t stride;  ///< distance in words of the elements that are summed; 0: nothing is summed
  bool total;            ///< the result is the total, not the prefix sums
};
Law law_of(const CaseStudy& study);

/// Of all case studies that follow the formula.
std::vector<Law> laws();

class TelescopingSum {
 public:
  explicit TelescopingSum(gpu::Session& session);

  /// These enqueue. A seed is less than 2^24.
  void fill(const Law& law, const Memory& memory, Extent extent, std::uint64_t seed);
  /// The output and `beyond` words past its end must hold POISON; they hold it again afterwards.
  void check(const Law& law, const Memory& memory, Extent extent, std::uint64_t seed, std::uint64_t beyond = 0,
             std::uint64_t run = 0);
  void poison(const Memory& memory);

  /// Waits. Empty if all checks so far passed, otherwise one line about the first that failed.
  std::string verdict();

 private:
  void launch(std::string_view kernel, std::vector<gpu::KernelArgument> arguments);

  gpu::Session& session_;
  std::unique_ptr<gpu::Buffer> report_;
};

}  // namespace bankwise
