// SPDX-License-Identifier: MIT
#pragma once

#include "bankcheck/driver/report_command.hpp"

namespace bankwise::driver {

/// Adds `bankcheck fit` to the command line. It fits the kernels of a trace; report_file() runs it.
CLI::App* declare_fit(CLI::App& app, ReportCommand& options);

}  // namespace bankwise::driver
