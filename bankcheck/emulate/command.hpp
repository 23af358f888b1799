// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bankcheck/check/reporting.hpp"
#include "bankcheck/check/watch_options.hpp"
#include "bankcheck/emulate/build.hpp"

namespace bankwise::emulate {

struct CheckOptions {
  opencl::ReportOptions report;
  Program program;
  std::vector<std::string> arguments;  ///< after --
  opencl::WatchOptions watch;
  std::string cache, object, fixed;
  bool verify = false;
  std::uint64_t step_limit = 0;
  bool fatal = false, warp_synchronous = false, returned_lanes_arrive = false;
  std::vector<std::string> allow;
};

/// Adds `bankcheck emulate` to the command line.
CLI::App* declare_check(CLI::App& app, CheckOptions& options);

/// Runs it. Returns an exit code. Errors: as Reporting and run_emulated().
int check(const CheckOptions& options);

}  // namespace bankwise::emulate
