// SPDX-License-Identifier: MIT
//
// What kernels may cost: a CSV file to keep beside the sources, sorted, one line for each kernel on each architecture.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "bankcheck/check/kernel_report.hpp"

namespace bankwise::opencl {

/// Accesses and conflicts of a kernel, over all of its launches, and the accesses that have no known cost.
struct Allowed {
  std::uint64_t accesses = 0, conflicts = 0, unknown = 0;
};

using Baseline = std::map<std::pair<std::string, std::string>, Allowed>;  ///< by kernel and architecture

/// Error: UsageError for a file that cannot be read or is none of ours.
Baseline read_baseline(const std::string& path);
std::string to_csv(const Baseline& baseline);

Baseline baseline_of(const std::vector<KernelReport>& kernels);

/// What to tell a person: sentences that make the run fail, and those that do not.
struct Verdict {
  std::vector<std::string> exceeded, remarks;
};

/// Conflicts of a kernel on any architecture, over all of its launches, that are more than `most`; or accesses of which
/// nobody knows.
Verdict compare(const Baseline& now, std::uint64_t most);

/// A kernel that the baseline lacks may have no conflict. With `all_kernels`, those that did not run are remarked on.
Verdict compare(const Baseline& now, const Baseline& allowed, const std::string& path, bool all_kernels);

/// `old` with what is new. Kernels that did not run are kept unless `all_kernels`; other architectures always.
Baseline updated(const Baseline& old, const Baseline& now, bool all_kernels);

}  // namespace bankwise::opencl
