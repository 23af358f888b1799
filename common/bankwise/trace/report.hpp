#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <bankwise/banks/architecture.hpp>
#include <bankwise/banks/cost.hpp>
#include <bankwise/trace/trace.hpp>

namespace bankwise::trace {

/// The work of the traced blocks between two barriers.
struct LevelReport {
  std::uint32_t level = 0;                           ///< barriers before it
  std::uint64_t active_lanes = 0, issued_warps = 0;  ///< that access shared memory; totals over all blocks
  banks::Tally costs;
};

/// The access of a line with the most conflicts; if there are several, the first by block, level and warp.
struct WorstAccess {
  std::uint64_t conflicts = 0;
  std::uint64_t block = 0;            ///< linear number in the grid
  std::uint32_t level = 0, warp = 0;  ///< in warps of the report's width
  std::uint64_t mask = 0;
  std::vector<std::uint32_t> addresses;  ///< byte offset of each lane up to the last active one
  std::vector<std::uint32_t> sources;    ///< a copy's addresses in global memory modulo 128, for the same lanes
};

/// The accesses of one source line to one array with one operation and width.
struct LineReport {
  Site site;
  std::string array;
  banks::Operation operation = banks::Operation::load;
  unsigned width = 4;  ///< bytes per lane
  banks::Tally costs;
  std::uint64_t mixed = 0;           ///< accesses whose lanes go to different arrays, whose distance is a guess
  std::optional<WorstAccess> worst;  ///< empty without a conflict; excess accesses are not considered
  banks::Tally merged;               ///< what is left of the accesses in the second trace
  unsigned widest = 0;               ///< bytes per lane of the widest access that is left; 0 without accesses
};

/// An access to global memory.
struct GlobalAccess {
  banks::SectorCost cost;
  std::uint64_t count = 0;  ///< how often it occurred
  std::uint64_t block = 0;  ///< the first time: linear number in the grid
  std::uint32_t warp = 0;   ///< in warps of the report's width
  std::uint64_t mask = 0;
  std::vector<std::uint32_t> addresses;  ///< of each lane up to the last active one, from a cache line's beginning
};

/// The accesses of one source line to global memory with one operation and width.
struct GlobalLineReport {
  Site site;
  banks::Operation operation = banks::Operation::load;
  unsigned width = 4;  ///< bytes per lane
  banks::SectorTally costs;
  std::optional<GlobalAccess> typical;  ///< which moves the most, all occurrences together; excess is not considered
};

/// The instructions of one engine in one source line, whose boxes have rows of one length.
struct EngineLineReport {
  Site site;
  banks::Engine engine = banks::Engine::wgmma;
  std::uint32_t row_bytes = 0;  ///< as in EngineWork
  std::uint64_t bytes = 0;      ///< of all instructions
  banks::Tally costs;           ///< without lanes
  double cycles = 0;            ///< of the engine, for the instructions with a known cost
  std::uint64_t rows() const { return row_bytes == 0 ? 0 : bytes / row_bytes; }
};

/// A kernel's trace on an architecture.
struct Report {
  const banks::Architecture* architecture = nullptr;
  std::string kernel;
  unsigned warp = 32;
  std::uint64_t blocks = 0;                    ///< traced blocks
  std::uint32_t level_count = 0;               ///< the most levels of a block
  std::vector<LevelReport> levels;             ///< those with accesses, in order
  std::vector<LineReport> lines;               ///< in the order of the trace's patterns
  std::vector<GlobalLineReport> global_lines;  ///< in the order of the trace's patterns
  banks::SectorTally global;                   ///< all of them
  std::vector<GlobalLineReport> remote_lines;  ///< the same for the shared memory of other blocks
  banks::SectorTally remote;
  std::vector<EngineLineReport> engine_lines;  ///< in the order of the trace
  banks::Tally engines;                        ///< all of them; they belong to no level
  banks::Tally loads, stores, atomics, all;    ///< copies (cp.async) and engines are only in the last
  std::uint64_t accesses = 0;  ///< to shared memory, whether they have a cost or not: those of `all` and more
  LeftOut without_cost;        ///< those of them that have none, by cause; some of them are in `all`
  std::uint64_t executed_lanes = 0, executions = 0;  ///< over all basic blocks and warps, if the producer knows them
  std::vector<Report> merged;                        ///< one, of the second trace, if the trace has one
  std::vector<std::string> unknown;                  ///< why accesses have no cost: one sentence per reason
  std::vector<std::string> ranges;                   ///< why costs are ranges: one sentence per reason
  std::vector<std::string> diagnoses;                ///< what the kernel does wrong: a sentence with its place each
  std::vector<std::string> incomplete;               ///< why the real numbers are larger: the report's are lower bounds
  std::vector<std::string> global_incomplete;        ///< the same for the numbers of global memory

  /// A level, whether it has accesses or not.
  LevelReport level(std::uint32_t number) const;
  /// The accesses that have lanes: all that are in `lines`.
  banks::Tally with_lanes() const;
  const std::vector<GlobalLineReport>& sector_lines(SectorMemory memory) const {
    return memory == SectorMemory::global ? global_lines : remote_lines;
  }
  const banks::SectorTally& sectors(SectorMemory memory) const {
    return memory == SectorMemory::global ? global : remote;
  }
};

/// Accesses that did not fit into the trace, and have no cost on an architecture: to the block's own shared memory, or
/// to one of the others.
std::uint64_t excess_without_cost(const KernelTrace& trace, const banks::Architecture& architecture);
std::uint64_t excess_without_cost(const KernelTrace& trace, SectorMemory memory,
                                  const banks::Architecture& architecture);

/// The causes, "unknown" instead of "", and their numbers, the largest first. `causes` must outlive it.
std::vector<std::pair<std::uint64_t, std::string_view>> largest_first(const LeftOut& causes);

/// "cp.async 600, TMA 400, TMA stores (unknown number)", the most first. At most six.
std::string to_text(const LeftOut& causes);

/// Why the numbers lack accesses of the traced blocks; empty if they do not.
std::vector<std::string> incompleteness(const KernelTrace& trace, const banks::Architecture& architecture);
/// The same for global memory, if it was watched.
std::vector<std::string> global_incompleteness(const KernelTrace& trace, const banks::Architecture& architecture);

/// Computes the cost of a trace, and of its second trace if it has one. Error: std::invalid_argument for an
/// architecture with other warps than the trace's, unless the trace splits into them.
Report report(const KernelTrace& trace, const banks::Architecture& architecture);

/// The report of the second trace; the same one without it.
const Report& merged(const Report& report);

/// Whether merging changes the cost.
bool merging_matters(const Report& report);

}  // namespace bankwise::trace

namespace bankwise {

/// The architecture that a user names. Error: UsageError, which suggests the nearest name.
const banks::Architecture& architecture_named(std::string_view name);

/// Conflicts of all traced accesses, the most where they are a range. `architecture` is a name from `bankcheck archs`.
/// Errors: std::invalid_argument if the architecture does not exist or has other warps, if an access has no known cost,
/// or if the trace lacks accesses.
std::uint64_t conflicts(const trace::KernelTrace& trace, std::string_view architecture);

}  // namespace bankwise
