// SPDX-License-Identifier: MIT
#pragma once

#include <set>
#include <string>
#include <vector>

#include "bankcheck/check/kernel_report.hpp"

namespace bankwise::opencl {

/// The lines with conflicts and the diagnoses as SARIF 2.1.0, for code review tools. Lines of kernels in `exceeded` and
/// diagnoses are errors, other lines are warnings, remarks are notes. Lines without a known file are omitted, because
/// those tools reject results without a location.
std::string to_sarif(const std::vector<KernelReport>& kernels, const std::set<std::string>& exceeded);

/// The number of lines with conflicts and of diagnoses that to_sarif() omits.
std::size_t lines_without_file(const std::vector<KernelReport>& kernels);

}  // namespace bankwise::opencl
