#pragma once

#include <stdexcept>

namespace bankwise::support {

/// The exit codes of all programs of bankwise.
enum ExitCode : int {
  exit_ok = 0,
  exit_wrong = 1,    ///< a result is wrong, or a limit is exceeded
  exit_usage = 2,    ///< the command line, or a file it names, cannot be used
  exit_device = 3,   ///< a device, a driver, a kernel's build or an output failed, or the device is too small
  exit_nothing = 77  ///< nothing to run here: no such device, or no variant that runs on it
};

/// The command line is wrong; what() is one sentence that names the remedy. Ends the program with exit code 2.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace bankwise::support
