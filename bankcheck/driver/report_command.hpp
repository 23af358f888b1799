// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "bankcheck/driver/reporting.hpp"

namespace bankwise::driver {

struct ReportCommand {
  ReportOptions report;
  std::string trace;  ///< a file, or - for stdin
  std::string cubin;  ///< machine code
};

/// The options of `bankcheck report`, and those of `bankcheck fit`, which fits the kernels of a trace.
void declare_report(CLI::App& command, ReportCommand& options);
void declare_fit(CLI::App& command, ReportCommand& options);

/// Runs both. Returns exit_ok or exit_wrong. Errors: those of Reporting, and UsageError for a file that
/// is not a trace.
int report_file(ReportCommand& options);

}  // namespace bankwise::driver
