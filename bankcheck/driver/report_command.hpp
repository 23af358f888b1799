// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "bankcheck/driver/reporting.hpp"

namespace bankwise::driver {

struct ReportCommand {
  ReportOptions report;
  std::string trace;  ///< a file, or - for stdin
  std::string cubin;  ///< machine code, which the caller reads into report.emitted
};

/// Adds `bankcheck report` to the command line.
CLI::App* declare_report(CLI::App& app, ReportCommand& options);

/// Runs `bankcheck report`. Returns exit_ok or exit_wrong. Errors: those of Reporting, and UsageError for a file that
/// is not a trace.
int report_file(const ReportCommand& options);

}  // namespace bankwise::driver
