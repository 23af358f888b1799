// SPDX-License-Identifier: MIT
//
// Inputs that look random and whose results are known by formula (telescoping_sum/fill.cuh): made and checked on the device,
// so that neither 10,000 runs nor 34 gigabytes keep the host busy.
#pragma once

#include <string>

#include "bare_launch.hpp"

namespace bankwise {

/// How a case study's result follows from the formula.
struct Law {
  const CaseStudy* study;
  std::uint64_t stride;  ///< words from one to the next that it is added to; 0: nothing is added
  bool total;            ///< the result is the sum of all, not what stands before each
};
extern const Law reduction_law, prefix_sum_law, transpose_law;

class TelescopingSum {
 public:
  explicit TelescopingSum(gpu::Session& session);

  /// These enqueue. A seed is less than 2^24.
  void fill(const Law& law, const Memory& memory, Extent extent, std::uint64_t seed);
  /// The output and `beyond` words behind it must have been poisoned; they are so afterwards.
  void check(const Law& law, const Memory& memory, Extent extent, std::uint64_t seed, std::uint64_t beyond = 0,
             std::uint64_t run = 0);
  void poison(const Memory& memory);

  /// Waits. Empty if all checks so far were right, else one line about the first that was not.
  std::string verdict();

 private:
  void launch(std::string_view kernel, std::vector<gpu::KernelArgument> arguments);

  gpu::Session& session_;
  std::unique_ptr<gpu::Buffer> report_;
};

}  // namespace bankwise
