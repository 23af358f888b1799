// SPDX-License-Identifier: MIT
//
// Runs a program that was built for the emulator.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <bankwise/banks/architecture.hpp>
#include <bankwise/trace/trace.hpp>

namespace bankwise::emulate {

struct EmulatedRun {
  std::filesystem::path program;
  std::vector<std::string> command;  ///< as the user would write it: a name, and the arguments
  const banks::Architecture* architecture = nullptr;
  std::uint64_t max_launches = 0, max_groups = 0, step_limit = 0;
  bool fatal = false, warp_synchronous = false, returned_lanes_arrive = false;  ///< as emulator::Launch has them
  bool run_repeated = false;         ///< launches whose results are known, too
  std::vector<std::string> kernels;  ///< globs of the kernels to record; empty: all
  std::vector<std::string> allow;    ///< faults, by the names of trace::faults()
  double time_limit = 0;             ///< seconds, after which the program is ended; 0: none
  bool own_stdout = true;
};

struct Outcome {
  trace::Trace trace;  ///< `errors`: the faults of the program, a sentence each
  std::vector<std::string> left_out;
  std::optional<std::string> failure;  ///< the program did not end well: a sentence
  bool interrupted = false;            ///< a signal or the time limit ended the run; `failure` says so
};

/// Runs the program to its end. Error: std::runtime_error if it cannot be started.
Outcome run_emulated(const EmulatedRun& run);

}  // namespace bankwise::emulate
