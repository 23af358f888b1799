// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

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
  std::string name;  ///< where several programs have one of this name, with build options or "#2" behind it
  Launch sum;
  std::vector<std::vector<SourceLine>> lines;  ///< of each architecture, for each of its LineTally

  /// Over all lines of an architecture.
  banks::Tally all(std::size_t architecture) const;
  /// Number of the line with the access that has most conflicts; none if there are no conflicts.
  std::optional<std::size_t> worst_line(std::size_t architecture) const;
};

/// One for each kernel that ran, in the order of their first launches.
std::vector<KernelReport> kernel_reports(const Record& record, SourceFinder& finder);

/// For a terminal of so many columns.
std::string to_text(const std::vector<KernelReport>& kernels, unsigned columns, bool colour);
std::string to_json(const std::vector<KernelReport>& kernels, const std::vector<std::string>& command);

}  // namespace bankwise::opencl
