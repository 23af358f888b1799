// SPDX-License-Identifier: MIT
#pragma once

#include <set>
#include <string>
#include <vector>

#include "bankcheck/check/kernel_report.hpp"

namespace bankwise::opencl {

/// The lines with conflicts as SARIF 2.1.0, for code review tools. Lines of kernels in `exceeded` are errors, others
/// are warnings. Lines without a known file are omitted, because those tools reject results without a location.
std::string to_sarif(const std::vector<KernelReport>& kernels, const std::set<std::string>& exceeded);

/// The number of lines with conflicts that to_sarif() omits.
std::size_t lines_without_file(const std::vector<KernelReport>& kernels);

}  // namespace bankwise::opencl
