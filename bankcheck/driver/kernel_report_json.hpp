// What the parts of the JSON report share.
#pragma once

#include <optional>

#include <nlohmann/json.hpp>

#include "bankcheck/driver/fit_report.hpp"
#include "bankcheck/driver/kernel_report.hpp"

namespace bankwise::driver {

template <class Number>
nlohmann::ordered_json optional_number(const std::optional<Number>& number) {
  return number ? nlohmann::ordered_json(*number) : nlohmann::ordered_json(nullptr);
}

/// What `--fit` adds to a kernel.
nlohmann::ordered_json fit_json(const KernelReport& kernel, const KernelFitReport& report);

}  // namespace bankwise::driver
