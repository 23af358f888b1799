// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bankcheck/driver/reporting.hpp"
#include "bankcheck/driver/watch_options.hpp"

namespace bankwise::opencl {

struct CheckOptions {
  driver::ReportOptions report;
  std::vector<std::string> command;
  driver::WatchOptions watch;
  std::vector<std::string> device_info;  ///< KEY=VALUE
  std::uint64_t local_memory = 65536;
};

/// Adds `bankcheck opencl` to the command line. The caller sets options.command, because CLI11 would parse the flags of
/// the checked program as bankcheck's.
CLI::App* declare_check(CLI::App& app, CheckOptions& options);

/// Runs `bankcheck opencl`. Returns exit_ok, exit_wrong if a limit is exceeded, or exit_device if the program or
/// Oclgrind failed. Errors: UsageError, std::runtime_error.
int check(const CheckOptions& options);

}  // namespace bankwise::opencl
