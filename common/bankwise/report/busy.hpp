// How busy a kernel keeps the memories of a GPU, and how much faster it can become at most without conflicts or without
// superfluous sectors.
//
// From the work of a kernel follows the least time that each pipe needs for it, whatever else the kernel does:
//
// - Shared memory takes one cycle of its multiprocessor per pass (tests/data/h200_wavefronts.csv: measured with clock64
//   on an H200, every pattern within 3 %; NVIDIA's CUDA guide says the same of compute capability 5.0 and newer).
// - The L1 cache looks up at most four cache lines per cycle (measured with clock64 on an H200: loads that hit, of 32
//   warps whose lanes are 36, 68 and 132 bytes apart, touch 10, 17 and 33 cache lines and take 3, 5 and 8 cycles), and
//   delivers at most 128 bytes (NVIDIA's Volta tuning guide, "Unified Shared Memory/L1/Texture Cache"). Its data lie in
//   banks as those of shared memory do: lanes 32, 64 and 128 bytes apart take 8, 16 and 32 cycles. Busy leaves that
//   out, so it is a lower bound, and so does the number of sectors: 32 of them can move in 5 cycles.
// - The L2 cache delivers each sector that a launch reads at least once: the L1 caches begin a launch empty. It
//   receives each sector that an instruction stores, because the L1 cache writes through. To one multiprocessor it can
//   deliver at least a sector per cycle (NVIDIA's whitepaper on the A100: 47 bytes if all multiprocessors ask).
// - DRAM delivers what a launch reads, except for as many bytes as the L2 cache can hold from before, and receives what
//   it writes, except for as many as the L2 cache can keep.
//
// A conflict costs more than a cycle of its pipe where a warp waits for it: measured with clock64 on an H200, a load
// takes 34.2 + 2 (passes - 1) cycles if no other warp uses the pipe, and 32 warps together take one cycle per pass. So
// a conflict less saves at most a cycle of the pipe of its multiprocessor, and one more for each conflict that lies on
// the path of one warp, in the blocks that the multiprocessor executes one after another. For sectors the second
// number is 1.25 (likewise: a load of 32 cache lines that hit takes 119.9 cycles, of one 51.5).
//
// It is assumed that all threads of a kernel do equal work. If one block has all conflicts, the multiprocessor that
// runs it is busier than these numbers say. The clock is assumed to be constant.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <bankwise/banks/architecture.hpp>
#include <bankwise/support/bandwidths.hpp>
#include <bankwise/trace/report.hpp>
#include <bankwise/trace/trace.hpp>

namespace bankwise::report {

/// A part of the GPU that does one thing at a time.
enum class Pipe { shared, l1, l2, dram };
inline constexpr std::size_t pipe_count = 4;
/// "shared memory", "L1 cache", "L2 cache", "DRAM".
std::string_view to_string(Pipe pipe);

inline constexpr double sector_bytes = 32;

/// What a GPU does per nanosecond, at most.
struct GpuRates {
  std::string name;
  double multiprocessors = 1;
  double clock_ghz = 1;            ///< of the multiprocessors
  double l2_bytes = 0;             ///< capacity of the L2 cache
  std::optional<double> l2, dram;  ///< GB/s (10^9 bytes), the most that was reached; empty: not known
  std::string_view l2_unknown;     ///< why not
  unsigned warp = 32;              ///< lanes
  bool is_dram_peak = false;       ///< `dram` is what its pins transfer, more than any program reaches
};

/// Of a model in the table, with the bandwidths that were measured on it (support/bandwidths.hpp), otherwise the row's.
/// Without either DRAM has its peak: two transfers per cycle of each pin.
GpuRates rates_of(const banks::GpuModel& gpu, const std::optional<support::Bandwidths>& measured = std::nullopt);

/// Of the GPU that ran a kernel, at its clock. What the time does not tell is the table's. Nothing if neither knows the
/// number of multiprocessors or the clock.
std::optional<GpuRates> rates_of(const trace::KernelTime& time,
                                 const std::optional<support::Bandwidths>& measured = std::nullopt);

/// Launches of one size.
struct Grid {
  std::uint64_t blocks = 1, threads = 1;  ///< threads of a block
  std::uint64_t launches = 1;
};

/// What all launches of a kernel do together.
struct Work {
  std::uint64_t passes = 0;           ///< of shared memory
  std::optional<double> path_passes;  ///< path_of(); empty: the warps of a block have equal parts of `passes`
  std::uint64_t sectors = 0;          ///< of global memory, by all instructions
  std::uint64_t cache_lines = 0;      ///< of 128 bytes, by loads; 0: not known
  std::uint64_t loaded_bytes = 0;     ///< different ones that each load asks for, added up
  std::uint64_t stored_sectors = 0;   ///< those of `sectors` that are written
  std::uint64_t sectors_read = 0;     ///< different ones of a launch, added up over the launches
  std::uint64_t sectors_written = 0;  ///< likewise
  std::vector<Grid> grids;            ///< none: one launch that fills the GPU evenly
};

/// The passes that one warp makes after another on its way through a block, added up over the traced blocks: at each
/// level (interval between two barriers) those of an average warp that accesses shared memory there. `passes` may be
/// the ideal ones. Empty if the trace does not know the warps.
std::optional<double> path_of(const trace::Report& report, std::uint64_t banks::Tally::*passes);

/// A change of a kernel.
enum class Change {
  none,
  no_conflicts,    ///< each access to shared memory has its ideal passes
  fewest_sectors,  ///< each access to global memory touches the fewest sectors that hold its bytes
};

/// The work of a traced kernel after a change. If not all blocks were traced, passes and sectors are scaled by the
/// ratio of launched to traced blocks. If the trace does not know the warps, the path of one has all passes of a line,
/// unless the line was executed so often that all warps may have done so equally often. With the fewest sectors, bytes
/// that no instruction asks for no longer move: at least as many sectors are then read and written as hold the bytes
/// that all instructions ask for, but not more than before. They may be fewer still where several instructions ask for
/// the same bytes, in sectors of which nobody asks for the rest, as in a stencil over an array of structures: a layout
/// that removes the rest may then gain more than most_speedup().
Work work_of(const trace::KernelTrace& kernel, const trace::Report& report, Change change = Change::none);

/// By pipe, in nanoseconds; empty where the bandwidth is not known.
using LeastTimes = std::array<std::optional<double>, pipe_count>;

/// What is assumed besides.
enum class Assuming {
  nothing,  ///< a lower bound in any order of the blocks, even if their work differs, or if L1 caches combine stores
  usual,    ///< the multiprocessor with the most blocks, ceil(blocks / multiprocessors), decides; stores go through L1
};
LeastTimes least_times(const Work& work, const GpuRates& gpu, Assuming assuming);

struct PipeUse {
  Pipe pipe = Pipe::shared;
  double least_ns = 0;         ///< of all launches
  std::optional<double> busy;  ///< least_ns ÷ measured time; of L2 and DRAM at least. Above 1 if an assumption fails
};

struct Busy {
  std::vector<PipeUse> pipes;           ///< those with work and a known bandwidth, the largest first
  std::optional<double> over_the_next;  ///< least time of the first ÷ that of the second, if there are two
};

/// `measured_ns`: the time of all launches together; empty: not measured.
Busy busy(const Work& work, const GpuRates& gpu, std::optional<double> measured_ns = std::nullopt);

/// The most time that a change can save, in nanoseconds; empty if sectors are saved and a bandwidth is not known. A
/// pass less saves a cycle, and one more on the path of a warp. A sector less saves at most
/// - a cycle of the L1 cache, because the sector may be the only one of its cache line; 1.25 more on a warp's path;
/// - its transfer from L2, at half of the bandwidth that whole cache lines reach, and at least a cycle;
/// - an access to DRAM, which moves at least 64 bytes, at a third of the bandwidth that successive ones reach. If all
///   that a launch touches fits into half of the L2 cache, each sector comes from DRAM once, and no more are saved.
///
/// The fractions are guesses on the safe side. These stages overlap, so they are rarely all saved. Contention of
/// atomics for one address is not counted, nor are misses of the TLB, nor that a change may turn misses of a cache into
/// hits, or let more blocks be resident. If `after` has no grids, it has those of `before`.
std::optional<double> most_saved_ns(const Work& before, const Work& after, const GpuRates& gpu);

/// The largest speedup that a change can have, at least 1: measured ÷ (measured - most saved), but not more than
/// measured ÷ (least time that any pipe needs after the change). Empty if neither limits it.
std::optional<double> most_speedup(const Work& before, const Work& after, const GpuRates& gpu, double measured_ns);

/// The share of the measured time that conflicts and superfluous sectors of a line can take, at most 1; empty as
/// most_saved_ns(). The shares of all lines may add up to more than 1.
std::optional<double> most_share(std::uint64_t conflicts, std::uint64_t excess_sectors, const Work& work,
                                 const GpuRates& gpu, double measured_ns);

/// What conflicts and superfluous sectors probably take, in nanoseconds, to compare lines with each other: a cycle of
/// shared memory, and the transfer of a sector between L1 and L2. Where the bandwidth of L2 is not known, that of DRAM.
double likely_ns(std::uint64_t conflicts, std::uint64_t excess_sectors, const Work& work, const GpuRates& gpu);

}  // namespace bankwise::report
