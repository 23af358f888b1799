// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bankcheck/check/reporting.hpp"

namespace bankwise::cuda {

struct CheckOptions {
  opencl::ReportOptions report;
  std::vector<std::string> command;  ///< after --
  std::string trace, sanitizer;
  std::uint64_t max_launches = 0, max_groups = 0, table_mebibytes = 256;
};

/// Adds `bankcheck cuda` to the command line.
CLI::App* declare_check(CLI::App& app, CheckOptions& options);

/// Runs it. Returns an exit code. Errors: as Reporting and run_on_gpu().
int check(const CheckOptions& options);

}  // namespace bankwise::cuda
