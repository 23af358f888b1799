// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

namespace bankwise::emulate {

struct Ran {
  int status = 0;      ///< exit code; 128 and the signal's number if a signal ended it
  std::string output;  ///< stdout and stderr together
};

/// Runs a tool that reads nothing. Error: std::runtime_error if it cannot be started.
Ran run_quietly(const std::vector<std::string>& command);

}  // namespace bankwise::emulate
