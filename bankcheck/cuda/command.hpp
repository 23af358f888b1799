// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bankcheck/driver/reporting.hpp"
#include "bankcheck/driver/watch_options.hpp"

namespace bankwise::cuda {

struct CheckOptions {
  driver::ReportOptions report;
  std::vector<std::string> command;  ///< after --
  driver::WatchOptions watch;
  std::string sanitizer;
  std::uint64_t table_mebibytes = 256;
};

/// Adds `bankcheck cuda` to the command line.
CLI::App* declare_check(CLI::App& app, CheckOptions& options);

/// Runs it. Returns an exit code. Errors: as Reporting and run_on_gpu().
int check(const CheckOptions& options);

}  // namespace bankwise::cuda
