// SPDX-License-Identifier: MIT
//
// What programs did with shared memory. Whatever watches a program makes a trace (the emulator, the plugin of
// Oclgrind); whatever explains one reads it (report.hpp). The same access a million times is one pattern with a count,
// so a trace is small, and costing it for one more architecture is cheap. json_lines.hpp has its file format.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <bankwise/banks/access.hpp>
#include <bankwise/banks/tally.hpp>

namespace bankwise::trace {

/// Levels that a trace tells apart. Accesses of a block that passes more barriers count in the last one.
inline constexpr std::uint32_t max_levels = 1 << 20;

/// A place in a kernel: in its source, or the instruction alone. What is not known is "?", "" or 0.
struct Site {
  std::string file;
  unsigned line = 0, column = 0;
  std::string function;             ///< as its language writes it, without parameters
  std::optional<std::uint64_t> pc;  ///< bytes from the kernel's first instruction, where code was watched
  auto operator<=>(const Site&) const = default;
};

/// An array in shared memory. Where arrays are not known, all of shared memory is one of them.
struct Array {
  std::string name;          ///< "tile"; of all dynamic shared memory "dynamic shared memory"
  std::uint32_t offset = 0;  ///< bytes from the start of shared memory
  std::uint32_t bytes = 0;   ///< 0: not known
  auto operator<=>(const Array&) const = default;
};

/// Which of several accesses came first. In this order: where launches or blocks run at once, time means nothing.
struct Occurrence {
  std::uint64_t block = 0;   ///< linear number in the grid, x fastest
  std::uint32_t warp = 0;    ///< of the block, in warps of KernelTrace::warp lanes
  std::uint64_t launch = 0;  ///< of the kernel, counted from 0
  std::uint64_t number = 0;  ///< of the block's recorded accesses
  auto operator<=>(const Occurrence&) const = default;
};

/// An access of one warp, and how often it was made.
struct Pattern {
  std::uint32_t site = 0;   ///< index into KernelTrace::sites
  std::uint32_t array = 0;  ///< index into KernelTrace::arrays; of the first active lane
  banks::Operation operation = banks::Operation::load;
  unsigned width = 4;       ///< bytes per lane
  std::uint32_t level = 0;  ///< barriers that the block had passed
  std::uint64_t mask = 0;   ///< active lanes
  bool is_loop = false;     ///< an atomic that the device has no instruction for, but a loop: it has no cost
  /// Bytes from the start of shared memory, of each lane up to the last active one; 0 where a lane is inactive.
  std::vector<std::uint32_t> addresses;
  /// Empty, or the array of each lane, where lanes go to different ones; how arrays lie to each other is a guess.
  std::vector<std::uint32_t> lane_arrays;
  std::uint64_t count = 0;
  Occurrence first;

  /// As the bank model takes it. The pattern must outlive it.
  banks::Access of_model() const { return {operation, width, mask, addresses}; }
};

/// Warps of a level that access shared memory at all, and which of their lanes do.
struct Participants {
  std::uint32_t level = 0;
  std::uint64_t mask = 0;
  std::uint64_t count = 0;  ///< of warps with this mask
};

/// How often warps executed one basic block of the kernel in one level.
struct BasicBlock {
  std::uint32_t site = 0, level = 0;
  std::uint64_t issued = 0;  ///< by a warp, counting each time
  std::uint64_t lanes = 0;   ///< active then, added up
};

/// Accesses whose patterns there was no room for, costed when they were made.
struct Excess {
  std::uint32_t site = 0, array = 0;
  banks::Operation operation = banks::Operation::load;
  unsigned width = 4;
  std::uint32_t level = 0;
  std::string architecture;    ///< name in the bank model
  std::uint64_t accesses = 0;  ///< in warps of the trace, where the tally has the architecture's
  std::uint64_t mixed = 0;     ///< of the tally's: lanes go to different arrays
  banks::Tally tally;
  std::string why_unknown;  ///< a sentence, where the tally has accesses without a cost
};

/// Launches of one size. OpenCL: global and local size.
struct Shape {
  std::array<std::uint64_t, 3> threads{1, 1, 1};  ///< of the whole grid
  std::array<std::uint64_t, 3> block{1, 1, 1};    ///< of one block
  std::uint64_t launches = 1;
};

/// One access of the sequence in which they were made.
struct Step {
  std::uint32_t pattern = 0;  ///< index into KernelTrace::patterns
  std::uint64_t block = 0;
  unsigned warp = 0;
};

/// Index into Trace::sources of a kernel that has none there.
inline constexpr std::uint32_t no_source = ~0U;

/// All watched launches of one kernel.
struct KernelTrace {
  std::string kernel;                ///< its name; "?" where the program has no symbols
  std::string options;               ///< that its program was built with
  std::uint32_t source = no_source;  ///< index into Trace::sources
  unsigned warp = 32;                ///< lanes of a warp, as the producer ran them: 1 to 64
  bool splits = false;        ///< lanes did not wait for each other: patterns hold for every divisor of `warp`, too
  bool knows_code = true;     ///< false: sites and loops could not be asked for
  std::vector<Shape> shapes;  ///< each size once, in the order of their first launches
  std::uint64_t blocks = 0;   ///< watched to their end
  std::uint32_t levels = 0;   ///< of the block that has most: barriers + 1
  std::vector<Site> sites;
  std::vector<Array> arrays;
  std::vector<Pattern> patterns;
  std::vector<Participants> participants;
  std::vector<BasicBlock> basic_blocks;
  std::uint64_t copied_bytes = 0;     ///< to and from shared memory, by instructions that have no lanes
  std::uint64_t left_out = 0;         ///< accesses that nothing else is known of
  std::uint64_t excess_accesses = 0;  ///< beyond the patterns: `excess` has their cost on some architectures
  std::vector<Excess> excess;
  std::vector<Step> order;  ///< where the producer was asked for it; never in a file
};

/// A run of a program.
struct Trace {
  std::string maker, revision;       ///< "bankcheck opencl", and its version
  std::vector<std::string> command;  ///< the watched program's
  std::vector<std::string> sources;  ///< texts of OpenCL programs
  std::vector<KernelTrace> kernels;  ///< each once, in the order of their first launches
  std::vector<std::string> errors;   ///< what went wrong, a sentence each: the trace may lack what came after
};

/// Blocks of a launch; 2^64 - 1 for a shape with more.
std::uint64_t blocks_of(const Shape& shape);

/// Over all shapes.
std::uint64_t launches_of(const KernelTrace& kernel);
std::uint64_t launched_blocks(const KernelTrace& kernel);

/// Recorded accesses, in warps of the trace.
std::uint64_t accesses_of(const KernelTrace& kernel);

}  // namespace bankwise::trace
