// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include <bankwise/study/result.hpp>
#include "access_clocks.hpp"

namespace bankwise::access_patterns {

/// Whether there are clocks to show: a CPU has no banks, and its rows are verified and not timed.
bool has_banks(const gpu::DeviceInfo& device);

/// The table that a person reads, one a device.
std::string text_report(const Report& report, const std::vector<Row>& rows);

/// The JSON of a case study's report, whose results have an `access` more. `rows` are those of report.results, in order.
std::string json_report(const Report& report, const std::vector<Row>& rows);

/// One line a pattern and a head line.
std::string csv_report(const std::vector<Row>& rows);

}  // namespace bankwise::access_patterns
