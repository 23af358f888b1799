// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json.hpp>

#include "bankcheck/driver/fit_report.hpp"

namespace bankwise::driver {

/// What `--fit` adds to a kernel's JSON.
nlohmann::ordered_json fit_json(const KernelReport& kernel, const KernelFitReport& report);

}  // namespace bankwise::driver
