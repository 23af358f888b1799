// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <bankwise/trace/report.hpp>
#include "bankcheck/driver/emitted_code.hpp"
#include "bankcheck/driver/source_finder.hpp"

namespace bankwise::driver {

/// A source line of a kernel, at the place where the user finds it.
struct PlacedLine {
  SourcePlace place;
  std::string text;      ///< "" if unknown
  bool is_file = false;  ///< `place` is in a file below the searched directory
};

/// All launches of a kernel together.
struct KernelReport {
  std::string name;          ///< if several programs have a kernel of this name: followed by build options or "#2"
  trace::KernelTrace trace;  ///< without its patterns
  std::vector<trace::Report> reports;          ///< per architecture; lines sorted by place
  std::vector<std::string> same_sources;       ///< files that contain its source equally well, if several do
  std::vector<std::vector<PlacedLine>> lines;  ///< per architecture, one for each line of the report
  std::vector<PlacedLine> diagnoses;           ///< the place of each of the trace's diagnoses
  std::size_t number = 0;                      ///< index into the kernels of the whole trace

  /// Index of the line with the access that has the most conflicts; nothing if there are no conflicts.
  std::optional<std::size_t> worst_line(std::size_t architecture) const;
};

/// The report of one run of a program.
struct RunReport {
  std::vector<KernelReport> kernels;  ///< in the order of their first launches
  std::vector<std::string> command;   ///< the checked program and its arguments
  trace::Maker maker = trace::Maker::other;
  std::vector<std::string>
      incomplete;                    ///< why kernels may have done more than the numbers show: one sentence per reason
  bool failed = false;               ///< the run failed, so kernels may have done more; why is told elsewhere
  std::vector<EmittedLine> emitted;  ///< what a device compiler made, if its machine code is known
};

/// Error: UsageError for an architecture whose warp width the trace does not support.
std::vector<KernelReport> kernel_reports(const trace::Trace& trace,
                                         const std::vector<const banks::Architecture*>& architectures,
                                         SourceFinder& finder);

/// The build options of an OpenCL program without those that depend on where it is installed: include paths, and
/// options that name a folder by `/`, `./`, `../` or `~/`. The others are separated by single spaces.
std::string without_folders(std::string_view options);

/// "blocks" in the language of a checker's programs.
std::string_view word_for_blocks(trace::Maker maker);

/// The report for a terminal of `columns` columns.
std::string to_text(const RunReport& report, unsigned columns, bool colour);
std::string to_json(const RunReport& report);

}  // namespace bankwise::driver
