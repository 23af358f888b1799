// SPDX-License-Identifier: MIT
//
// Runs a program under Oclgrind with our plugin.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <bankwise/banks/architecture.hpp>
#include <bankwise/trace/trace.hpp>

namespace bankwise::opencl {

struct OclgrindRun {
  std::vector<std::string> command;                       ///< the program and its arguments
  std::vector<const banks::Architecture*> architectures;  ///< for accesses whose patterns are too many
  std::uint64_t local_memory = 65536;                     ///< bytes that the device claims
  bool own_stdout = true;  ///< the program's stdout is ours; else it goes to stderr, where it disturbs nobody
};

struct Outcome {
  trace::Trace trace;  ///< its errors are Oclgrind's
  /// One sentence if something went wrong, that says whose fault it is. The trace holds what had happened until then.
  std::optional<std::string> failure;
};

/// Runs it to its end. Errors: std::runtime_error if it could not be started at all.
Outcome run_under_oclgrind(const OclgrindRun& run);

}  // namespace bankwise::opencl
