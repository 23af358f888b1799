// The baseline: a CSV file with the allowed conflicts and extra sectors, to keep in the repository next to the sources.
// Sorted, one line per kernel and architecture.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bankcheck/driver/kernel_report.hpp"

namespace bankwise::driver {

/// Accesses of a kernel to a memory, summed over its launches, and how many of them have no known cost. `cost`:
/// conflicts, of which the most count where they are a range; or the sectors of global memory beyond the ideal.
struct Counts {
  std::uint64_t accesses = 0, cost = 0, unknown = 0;
};

/// Those of shared memory.
struct Allowed : Counts {
  std::optional<Counts> sectors{};  ///< empty: global memory was not watched, and is not limited
  std::uint64_t line = 0;           ///< in its file
};

using Baseline = std::map<std::pair<std::string, std::string>, Allowed>;  ///< by kernel and architecture

/// Error: UsageError for a file that cannot be read or is not a baseline.
Baseline read_baseline(const std::string& path);
/// Without the columns of global memory if no row has them.
std::string to_csv(const Baseline& baseline);

/// Whether any row limits sectors.
bool has_sectors(const Baseline& baseline);

Baseline baseline_of(const std::vector<KernelReport>& kernels);

/// The messages for the user: those that make the run fail, and those that do not.
struct Verdict {
  std::vector<std::string> exceeded, remarks;
};

/// Exceeded: a kernel with more conflicts or extra sectors than allowed on any architecture, summed over its launches,
/// or with accesses to a limited memory without a known cost.
struct Limits {
  std::optional<std::uint64_t> max_conflicts{}, max_sectors{};
};
Verdict compare(const Baseline& now, const Limits& limits);

/// Exceeded: a kernel with more conflicts or extra sectors than in the baseline; a kernel that the baseline lacks may
/// have none. A row without sectors, as in files of older versions, does not limit them. With `all_kernels`, the
/// remarks list the kernels of the baseline that did not run.
Verdict compare(const Baseline& now, const Baseline& allowed, const std::string& path, bool all_kernels);

/// `old` with the rows of `now` added or replaced. Rows of kernels that did not run are kept unless `all_kernels`; rows
/// of other architectures are always kept.
Baseline updated(const Baseline& old, const Baseline& now, bool all_kernels);

}  // namespace bankwise::driver
