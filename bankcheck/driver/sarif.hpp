// SPDX-License-Identifier: MIT
#pragma once

#include <set>
#include <string>
#include <vector>

#include "bankcheck/driver/fit_report.hpp"
#include "bankcheck/driver/kernel_report.hpp"

namespace bankwise::driver {

/// The lines with conflicts and the diagnoses as SARIF 2.1.0, for code review tools. Lines of kernels in `exceeded` and
/// diagnoses are errors, other lines are warnings, remarks are notes. Lines without a known file are omitted, because
/// those tools reject results without a location. A line whose array a fit changes in one file has a fix. `fits` has
/// one element for each kernel, or none.
std::string to_sarif(const std::vector<KernelReport>& kernels, const std::set<std::string>& exceeded,
                     const std::vector<KernelFitReport>& fits = {});

/// The number of lines with conflicts and of diagnoses that to_sarif() omits.
std::size_t lines_without_file(const std::vector<KernelReport>& kernels);

}  // namespace bankwise::driver
