// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bankcheck/check/reporting.hpp"

namespace bankwise::opencl {

struct CheckOptions {
  ReportOptions report;
  std::vector<std::string> command;
  std::string trace;
  std::uint64_t local_memory = 65536;
};

/// Adds `bankcheck opencl` to the command line, but for options.command: CLI11 would take the program's flags for ours.
CLI::App* declare_check(CLI::App& app, CheckOptions& options);

/// Runs it. Returns exit_ok, exit_wrong if a limit is exceeded, or exit_device if the program or Oclgrind failed.
/// Errors: UsageError, std::runtime_error.
int check(const CheckOptions& options);

}  // namespace bankwise::opencl
