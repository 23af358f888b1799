// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include <bankwise/study/result.hpp>
#include "access_clocks.hpp"

namespace bankwise::access_patterns {

/// Whether the device has banks to measure. A CPU has none: its rows are verified but not timed.
bool has_banks(const gpu::DeviceInfo& device);

/// The text report: one table per device.
std::string text_report(const Report& report, const std::vector<Row>& rows);

/// The JSON report of a case study, with an additional `access` per result. `rows` has the order of report.results.
std::string json_report(const Report& report, const std::vector<Row>& rows);

/// A head line, then one line per pattern.
std::string csv_report(const std::vector<Row>& rows);

}  // namespace bankwise::access_patterns
