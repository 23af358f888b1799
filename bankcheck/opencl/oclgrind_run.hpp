// SPDX-License-Identifier: MIT
//
// Runs a program under Oclgrind with bankcheck's plugin.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <bankwise/banks/architecture.hpp>
#include <bankwise/trace/trace.hpp>

namespace bankwise::opencl {

struct OclgrindRun {
  std::vector<std::string> command;                       ///< the program and its arguments
  std::vector<const banks::Architecture*> architectures;  ///< costed during the run if the patterns exceed their bound
  std::uint64_t local_memory = 65536;                     ///< bytes that the simulated device reports
  std::string device;                ///< its properties, KEY=VALUE on each line (device_properties.hpp)
  std::vector<std::string> kernels;  ///< globs of the kernels to record; empty: all
  std::uint64_t max_launches = 0,
                max_groups = 0;  ///< how much of a kernel is recorded at most; 0: all (watch_plan.hpp)
  double time_limit = 0;         ///< seconds, after which the program is ended; 0: none
  bool own_stdout = true;        ///< the program shares bankcheck's stdout; otherwise its stdout goes to stderr
};

struct Outcome {
  trace::Trace trace;  ///< its errors are those that Oclgrind reported
  /// If the run failed: one sentence that names the cause. The trace then ends at the failure.
  std::optional<std::string> failure;
  bool interrupted = false;             ///< a signal or the time limit ended the run; `failure` says so
  std::vector<std::string> incomplete;  ///< what the trace lacks although the run did not fail: one sentence each
  std::vector<std::string> remarks;     ///< what was unusual, although nothing is missing: one sentence each
};

/// Runs the program to its end. Error: std::runtime_error if it cannot be started.
Outcome run_under_oclgrind(const OclgrindRun& run);

}  // namespace bankwise::opencl
