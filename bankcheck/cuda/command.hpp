// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bankcheck/check/reporting.hpp"
#include "bankcheck/check/watch_options.hpp"

namespace bankwise::cuda {

struct CheckOptions {
  check::ReportOptions report;
  std::vector<std::string> command;  ///< after --
  check::WatchOptions watch;
  std::string sanitizer;
  std::uint64_t table_mebibytes = 256;
};

/// Adds `bankcheck cuda` to the command line.
CLI::App* declare_check(CLI::App& app, CheckOptions& options);

/// Runs it. Returns an exit code. Errors: as Reporting and run_on_gpu().
int check(const CheckOptions& options);

}  // namespace bankwise::cuda
