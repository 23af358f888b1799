// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <bankwise/banks/architecture.hpp>
#include <bankwise/banks/tally.hpp>
#include <bankwise/trace/trace.hpp>

namespace bankwise::trace {

/// What the watched blocks did between two barriers.
struct LevelReport {
  std::uint32_t level = 0;                           ///< barriers before it
  std::uint64_t active_lanes = 0, issued_warps = 0;  ///< that access shared memory at all; of all blocks together
  double alu_utilization = 0;  ///< active lanes of each access, added up, divided by accesses * warp; 0 without any
  banks::Tally costs;
};

/// The access of a line with the most conflicts: of several the first by block, level and warp.
struct WorstAccess {
  std::uint64_t conflicts = 0;
  std::uint64_t block = 0;            ///< linear number in the grid
  std::uint32_t level = 0, warp = 0;  ///< warps as wide as the report's
  std::uint64_t mask = 0;
  std::vector<std::uint32_t> addresses;  ///< bytes, of each lane up to the last active one
};

/// What one line of source does with one array in one way.
struct LineReport {
  Site site;
  std::string array;
  banks::Operation operation = banks::Operation::load;
  unsigned width = 4;  ///< bytes per lane
  banks::Tally costs;
  std::uint64_t mixed = 0;  ///< accesses whose lanes went to different arrays; how those lie to each other is a guess
  std::optional<WorstAccess> worst;  ///< none without a conflict; accesses in excess are not looked at
};

/// A kernel's trace on an architecture.
struct Report {
  const banks::Architecture* architecture = nullptr;
  std::string kernel;
  unsigned warp = 32;
  std::uint64_t blocks = 0;         ///< that were watched
  std::vector<LevelReport> levels;  ///< each level, also one without accesses
  std::vector<LineReport> lines;    ///< in the order of the trace's patterns
  banks::Tally loads, stores, atomics, all;
  double alu_utilization = 0;           ///< over all accesses
  double simt_efficiency = 0;           ///< active lanes of each basic block, added up, divided by those issued * warp
  std::vector<std::string> unknown;     ///< why accesses have no cost: a sentence for each reason
  std::vector<std::string> incomplete;  ///< why there are more accesses than the numbers have: at least these
};

/// Why the numbers lack accesses that the watched blocks made; empty if they do not.
std::vector<std::string> incompleteness(const KernelTrace& trace, const banks::Architecture& architecture);

/// Costs a trace. Error: std::invalid_argument for an architecture whose warps are not the trace's, unless the trace
/// splits into them.
Report report(const KernelTrace& trace, const banks::Architecture& architecture);

/// For a person: a line for each line of source, and the totals.
std::string to_text(const Report& report);

}  // namespace bankwise::trace

namespace bankwise {

/// Conflicts of all traced accesses. `architecture` is a name of `bankcheck archs`. Errors: std::invalid_argument for
/// an architecture that does not exist or has other warps, if an access has no known cost, or if the trace lacks
/// accesses.
std::uint64_t conflicts(const trace::KernelTrace& trace, std::string_view architecture);

}  // namespace bankwise
