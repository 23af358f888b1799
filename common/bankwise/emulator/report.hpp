// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <bankwise/banks/architecture.hpp>
#include <bankwise/banks/tally.hpp>
#include <bankwise/emulator/trace.hpp>

namespace bankwise::emulator {

using Costs = banks::Tally;

/// What the traced blocks did between two barriers.
struct LevelReport {
  std::uint32_t level = 0;                      ///< barriers before it
  unsigned active_lanes = 0, issued_warps = 0;  ///< that access shared memory at all; of all traced blocks together
  double alu_utilization = 0;  ///< active lanes of each access, added up, divided by accesses * warp; 0 without any
  Costs costs;
};

/// What one line of source does with one array in one way.
struct LineReport {
  Site site;
  std::string array;
  banks::Operation operation = banks::Operation::load;
  unsigned width = 4;  ///< bytes per lane
  Costs costs;
  std::size_t worst = 0;  ///< the access with most conflicts, an index into Trace::accesses
};

/// A trace on an architecture.
struct Report {
  const banks::Architecture* architecture = nullptr;
  std::string kernel;
  unsigned warp = 32;
  std::uint64_t blocks = 0;         ///< that were traced
  std::vector<LevelReport> levels;  ///< each level, also one without accesses
  std::vector<LineReport> lines;    ///< in the order of their first access
  Costs loads, stores, atomics, all;
  double alu_utilization = 0;        ///< over all accesses
  double simt_efficiency = 0;        ///< active lanes of each basic block, added up, divided by those issued * warp
  std::vector<std::string> unknown;  ///< why accesses have no cost: a sentence for each reason
};

/// Costs each access of a trace. Error: std::invalid_argument unless the architecture has warps as wide as the trace's.
Report report(const Trace& trace, const banks::Architecture& architecture);

/// For a person: a line for each line of source, and the totals.
std::string to_text(const Report& report);

}  // namespace bankwise::emulator

namespace bankwise {

/// Conflicts of all traced accesses. `architecture` is a name of `bankcheck archs`. Errors: std::invalid_argument for an
/// architecture that does not exist or has other warps, or if an access has no known cost.
std::uint64_t conflicts(const emulator::Trace& trace, std::string_view architecture);

}  // namespace bankwise
