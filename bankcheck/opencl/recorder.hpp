// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bankcheck/driver/recorder.hpp"

namespace bankwise::opencl {

/// `bankcheck opencl`: runs any OpenCL program under Oclgrind, with a plugin that records.
class Recorder : public driver::Recorder {
 public:
  Recorder() : driver::Recorder("work-groups") {}
  void declare(CLI::App& command) override;
  std::optional<driver::Outcome> run(driver::Reporting& reporting) override;

 private:
  std::vector<std::string> device_info_;  ///< KEY=VALUE
  std::uint64_t local_memory_ = 65536;    ///< bytes that the simulated device reports
};

}  // namespace bankwise::opencl
