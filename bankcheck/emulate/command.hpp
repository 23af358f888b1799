// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "bankcheck/driver/reporting.hpp"
#include "bankcheck/driver/watch_options.hpp"
#include "bankcheck/emulate/build.hpp"

namespace bankwise::emulate {

struct CheckOptions {
  driver::ReportOptions report;
  Program program;
  std::vector<std::string> arguments;  ///< after --
  driver::WatchOptions watch;
  std::string cache, object, fixed;
  bool verify = false;
  std::vector<std::string> cubins;  ///< files of machine code; "nvcc": made by it
  /// Reads such a file, which may have no lines if `may_be_empty`. Errors: UsageError.
  std::function<std::vector<driver::EmittedLine>(const std::string& path, bool may_be_empty)> read_cubin;
  std::uint64_t step_limit = 0;
  bool fatal = false, warp_synchronous = false, returned_lanes_arrive = false, run_repeated = false;
  std::vector<std::string> allow;
};

/// Adds `bankcheck emulate` to the command line.
CLI::App* declare_check(CLI::App& app, CheckOptions& options);

/// Runs it. Returns an exit code. Errors: as Reporting and run_emulated().
int check(const CheckOptions& options);

}  // namespace bankwise::emulate
