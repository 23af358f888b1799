// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <bankwise/trace/report.hpp>
#include "bankcheck/check/source_finder.hpp"

namespace bankwise::opencl {

/// A line of a kernel, as a person finds it.
struct SourceLine {
  Place place;
  std::string text;      ///< "" if it is not known
  bool is_file = false;  ///< `place` is a file below the folder that was searched
};

/// All launches of a kernel together.
struct KernelReport {
  std::string name;          ///< where several programs have one of this name, with build options or "#2" behind it
  trace::KernelTrace trace;  ///< without its patterns
  std::vector<trace::Report> reports;          ///< on each architecture; lines by place
  std::vector<std::vector<SourceLine>> lines;  ///< of each architecture, for each of the report's

  /// Number of the line with the access that has most conflicts; none if there are no conflicts.
  std::optional<std::size_t> worst_line(std::size_t architecture) const;
};

/// Of a run of a program.
struct RunReport {
  std::vector<KernelReport> kernels;    ///< in the order of their first launches
  std::vector<std::string> command;     ///< the program's
  std::vector<std::string> incomplete;  ///< why kernels may have done more than the numbers say: a sentence each
};

/// Error: UsageError for an architecture that has other warps than the trace.
std::vector<KernelReport> kernel_reports(const trace::Trace& trace,
                                         const std::vector<const banks::Architecture*>& architectures,
                                         SourceFinder& finder);

/// For a terminal of so many columns.
std::string to_text(const RunReport& report, unsigned columns, bool colour);
std::string to_json(const RunReport& report);

}  // namespace bankwise::opencl
