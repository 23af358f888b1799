// SPDX-License-Identifier: MIT
//
// What the plugin tells bankcheck: one line of JSON each time a kernel has run.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <bankwise/banks/tally.hpp>

namespace bankwise::opencl {

/// Errors of Oclgrind's that a process tells; a kernel may make millions.
inline constexpr unsigned max_errors = 100;

/// In the source of an OpenCL program. `file` is what its compiler calls it; line and column 0: unknown.
struct Place {
  std::string file;
  unsigned line = 0, column = 0;
  auto operator<=>(const Place&) const = default;
};

/// An access of a line with the most conflicts: of several the first, by work-group, level and warp.
struct WorstAccess {
  std::uint64_t conflicts = 0;
  std::uint64_t group = 0;  ///< linear, x fastest
  std::uint32_t level = 0, warp = 0;
  std::uint64_t mask = 0;
  std::vector<std::uint32_t> addresses;  ///< bytes, of each lane up to the last active one; each array begins at bank 0
};

/// Keeps the worse.
void keep_worse(std::optional<WorstAccess>& worst, const WorstAccess& other);

/// What a place does with a local array in one way, on one architecture.
struct LineTally {
  Place place;
  std::string array;
  banks::Operation operation = banks::Operation::load;
  unsigned width = 4;  ///< bytes per lane
  banks::Tally tally;
  std::uint64_t mixed = 0;  ///< accesses whose lanes went to different arrays; how those lie to each other is a guess
  std::optional<WorstAccess> worst;  ///< none without a conflict
};

/// What the work-groups did between two barriers.
struct LevelTally {
  std::uint64_t active_lanes = 0, issued_warps = 0;  ///< that access local memory at all
  banks::Tally tally;
};

struct ArchitectureTally {
  std::string architecture;
  unsigned warp = 32;
  std::vector<LineTally> lines;      ///< by place
  std::vector<LevelTally> levels;    ///< by number of barriers before
  std::vector<std::string> unknown;  ///< why accesses have no cost: a sentence for each reason
};

/// One launch of a kernel, or several of the same one added up.
struct Launch {
  std::string kernel;
  std::uint64_t process = 0, program = 0;  ///< which source: program numbers are a process's own
  std::string build_options;               ///< the program's own
  std::array<std::uint64_t, 3> global{}, local{};
  bool several_sizes = false;  ///< of launches added up; `global` and `local` are the first one's
  std::uint64_t launches = 1;
  std::uint64_t work_groups = 0;   ///< that ran to their end
  std::uint64_t copied_bytes = 0;  ///< by async_work_group_copy, which has no lanes and no cost here
  std::uint64_t left_out = 0;      ///< accesses beyond what could be remembered between two barriers
  bool knows_code = true;          ///< false: Oclgrind's LLVM could not be asked for lines and loops
  std::vector<ArchitectureTally> tallies;
};

/// Work-groups that it has to have.
std::uint64_t groups_of(const Launch& launch);

/// Adds what a launch did to another of the same kernel on the same architectures.
void add(Launch& sum, const Launch& other);

struct ProgramSource {
  std::uint64_t process = 0, program = 0;
  std::string text;
};

/// All that a run has told.
struct Record {
  std::uint64_t contexts = 0;  ///< that the plugin was loaded into
  std::vector<ProgramSource> sources;
  std::vector<Launch> launches;
  std::vector<std::string> errors;  ///< Oclgrind's own
};

/// Lines to append to a record, each with its newline.
std::string context_line();
std::string line_of(const ProgramSource& source);
std::string line_of(const Launch& launch);
std::string error_line(const std::string& message);

/// Error: std::runtime_error for a line that the plugin cannot have written.
Record parse_record(const std::string& text);

}  // namespace bankwise::opencl
