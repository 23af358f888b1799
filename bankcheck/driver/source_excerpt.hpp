// SPDX-License-Identifier: MIT
//
// The source around the lines of a kernel that access shared memory.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "bankcheck/driver/kernel_report.hpp"

namespace bankwise::driver {

struct SourceExcerpt {
  std::string file;  ///< as in the places of the kernel's lines
  /// Numbers and texts, sorted: each line with an access and the lines around it, as far as they can be read. A line
  /// whose number is not known, 0, has no text.
  std::vector<std::pair<unsigned, std::string>> lines;
};

/// One for each file with an access, in the order of their paths. `trace`: the trace that the kernel is from.
std::vector<SourceExcerpt> source_excerpts(const KernelReport& kernel, const trace::Trace& trace,
                                           const SourceFinder& finder);

}  // namespace bankwise::driver
