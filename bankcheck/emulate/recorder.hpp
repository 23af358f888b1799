// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include <bankwise/support/watch_request.hpp>
#include "bankcheck/driver/recorder.hpp"
#include "bankcheck/emulate/build.hpp"

namespace bankwise::emulate {

/// `bankcheck emulate`: builds any CUDA source with g++, and runs it on the CPU.
class Recorder : public driver::Recorder {
 public:
  Recorder() : driver::Recorder("blocks") {}
  void declare(CLI::App& command) override;
  std::optional<driver::Outcome> run(driver::Reporting& reporting) override;

 private:
  bool verifies() const { return verify_ || !fixed_.empty(); }
  void check_options() const;  ///< error: UsageError

  Program program_;
  support::EmulateRequest request_;
  std::string cache_, object_, fixed_;
  bool verify_ = false;
  std::vector<std::string> cubins_;  ///< files of machine code; "nvcc": made by it
};

}  // namespace bankwise::emulate
