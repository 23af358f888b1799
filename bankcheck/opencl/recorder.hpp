// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bankcheck/driver/recorder.hpp"

namespace bankwise::opencl {

/// The properties of the simulated device: the values of --device-info, each KEY=VALUE, and what `first` has instead of
/// Oclgrind's. Error: UsageError.
std::vector<std::string> device_values(const std::vector<std::string>& device_info, const banks::Architecture& first);

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
