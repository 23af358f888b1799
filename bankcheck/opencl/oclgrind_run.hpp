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
  std::string device;      ///< its properties, KEY=VALUE on each line (device_properties.hpp)
  bool own_stdout = true;  ///< the program shares bankcheck's stdout; otherwise its stdout goes to stderr
};

struct Outcome {
  trace::Trace trace;  ///< its errors are those that Oclgrind reported
  /// If the run failed: one sentence that names the cause. The trace then ends at the failure.
  std::optional<std::string> failure;
  std::optional<std::string> remark;  ///< a sentence about something unusual in a run that did not fail
};

/// Runs the program to its end. Error: std::runtime_error if it cannot be started.
Outcome run_under_oclgrind(const OclgrindRun& run);

}  // namespace bankwise::opencl
