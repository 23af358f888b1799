// SPDX-License-Identifier: MIT
//
// The formats of a report in files. A new one is a file with its writer, and a row of the table in sinks.cpp.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include <bankwise/trace/trace.hpp>
#include "bankcheck/driver/baseline.hpp"
#include "bankcheck/driver/fit_report.hpp"
#include "bankcheck/driver/kernel_report.hpp"

namespace bankwise::driver {

/// What a file may contain of a run.
struct SinkInput {
  const RunReport& report;
  const std::vector<KernelFitReport>& fits;  ///< one for each kernel, or none
  const trace::Trace& trace;
  const SourceFinder& finder;
  const std::string& sources;            ///< the directory of --sources
  const std::vector<std::string>& only;  ///< names and globs, if not all kernels were asked for
  /// The limits that some of the kernels exceed.
  std::function<std::vector<std::string>(const std::vector<KernelReport>&)> exceeded;
};

struct Sink {
  const char* option;  ///< "--json"
  const char* help;
  std::string (*write)(const SinkInput& input);
  std::string (*remark)(const SinkInput& input) = nullptr;  ///< what to tell about the file; "" for nothing
};

/// In the order of the options.
std::span<const Sink> sinks();

}  // namespace bankwise::driver
