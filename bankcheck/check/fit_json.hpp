// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json.hpp>

#include "bankcheck/check/fit_report.hpp"

namespace bankwise::check {

/// What `--fit` adds to a kernel's JSON.
nlohmann::ordered_json fit_json(const KernelReport& kernel, const KernelFitReport& report);

}  // namespace bankwise::check
