// SPDX-License-Identifier: MIT
#pragma once

#include <set>
#include <string>
#include <vector>

#include "bankcheck/check/kernel_report.hpp"

namespace bankwise::opencl {

/// The lines with conflicts for pages of code review, in SARIF 2.1.0. Those of the kernels in `exceeded` are errors, the
/// others warnings. Lines whose file is not known are left out, because such pages refuse results without a place.
std::string to_sarif(const std::vector<KernelReport>& kernels, const std::set<std::string>& exceeded);

/// Lines with conflicts that to_sarif() leaves out.
std::size_t lines_without_file(const std::vector<KernelReport>& kernels);

}  // namespace bankwise::opencl
