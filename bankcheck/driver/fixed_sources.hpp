// SPDX-License-Identifier: MIT
//
// The sources of a program with the changes that a fit proposes.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "bankcheck/driver/fit_report.hpp"

namespace bankwise::driver {

struct FixedSources {
  std::map<std::string, std::string> files;  ///< new texts, by path
  std::vector<std::size_t> kernels;          ///< indices of the kernels that are changed as predicted
  std::vector<std::string> left_out;         ///< which kernels cannot be changed automatically, and why
};

/// A kernel is changed if all of its changes can be, in files, and if no other kernel needs other text there.
FixedSources fixed_sources(const std::vector<KernelReport>& kernels, const std::vector<KernelFitReport>& fits);

}  // namespace bankwise::driver
