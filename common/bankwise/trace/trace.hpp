// The accesses of programs to shared and to global memory. Producers (the emulator, Oclgrind's plugin, bankcheck cuda)
// make a trace, and report.hpp explains it. Equal accesses are one pattern with a count, so a trace is small, and
// computing its cost on one more architecture is cheap. codec.hpp has its file format.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <bankwise/banks/access.hpp>
#include <bankwise/banks/cost.hpp>
#include <bankwise/banks/engines.hpp>
#include <bankwise/banks/sectors.hpp>
#include <bankwise/trace/fault.hpp>

namespace bankwise::trace {

/// The number of levels (intervals between two barriers) that a trace distinguishes. Accesses after more barriers count
/// in the last one.
inline constexpr std::uint32_t max_levels = 1 << 20;

/// Bytes of a cache line of global memory, in the sources of copies.
inline constexpr std::uint32_t source_bytes = 128;

/// A place in a kernel: in its source, or only the instruction. Unknown parts are "?", "" or 0.
struct Site {
  std::string file;
  unsigned line = 0, column = 0;
  std::string function;             ///< as in the source language, without parameters
  std::optional<std::uint64_t> pc;  ///< bytes from the kernel's first instruction, if the producer watched code
  auto operator<=>(const Site&) const = default;
};

/// An array in shared memory. If the arrays are unknown, all of shared memory is one array.
struct Array {
  std::string name;                    ///< "tile"; "dynamic shared memory" for all dynamic shared memory
  std::uint32_t offset = 0;            ///< bytes from the start of shared memory
  std::uint32_t bytes = 0;             ///< 0: unknown
  std::uint32_t element = 0;           ///< bytes of an element as declared; 0: unknown
  std::vector<std::uint32_t> lengths;  ///< elements in each dimension as declared; empty: unknown
  auto operator<=>(const Array&) const = default;
};

/// Orders accesses. It does not use time, because launches and blocks may run simultaneously.
struct Occurrence {
  std::uint64_t block = 0;   ///< linear number in the grid, x fastest
  std::uint32_t warp = 0;    ///< within the block, in warps of KernelTrace::warp lanes
  std::uint64_t launch = 0;  ///< launch of the kernel, from 0
  std::uint64_t number = 0;  ///< index among the block's recorded accesses
  auto operator<=>(const Occurrence&) const = default;
};

/// An access of one warp, and how often it occurred.
struct Pattern {
  std::uint32_t site = 0;   ///< index into KernelTrace::sites
  std::uint32_t array = 0;  ///< index into KernelTrace::arrays; of the first active lane
  banks::Operation operation = banks::Operation::load;
  unsigned width = 4;       ///< bytes per lane
  std::uint32_t level = 0;  ///< barriers that the block has passed
  std::uint64_t mask = 0;   ///< active lanes
  bool is_loop = false;     ///< an atomic that the device implements as a loop; its cost is a range or unknown
  /// Bytes from the start of shared memory, for each lane up to the last active one; 0 for inactive lanes.
  std::vector<std::uint32_t> addresses;
  /// Empty, or the array of each lane, if the lanes go to different ones; the distance between those arrays is a guess.
  std::vector<std::uint32_t> lane_arrays;
  /// Only for copies: what each lane reads in global memory. cp_async: the address modulo 128. cp_async_cg: that, plus
  /// 128 times the number of the cache line, counted in the order of the lanes. banks::no_source: the lane writes
  /// zeros. Empty: unknown.
  std::vector<std::uint32_t> sources;
  std::uint64_t count = 0;
  Occurrence first;

  /// For the bank model. The pattern must outlive it.
  banks::Access of_model() const { return {operation, width, mask, addresses, sources}; }
};

/// Warps of a level that access shared memory, and which of their lanes do.
struct Participants {
  std::uint32_t level = 0;
  std::uint64_t mask = 0;
  std::uint64_t count = 0;  ///< number of warps with this mask
};

/// How often warps executed one basic block of the kernel in one level.
struct BasicBlock {
  std::uint32_t site = 0, level = 0;
  std::uint64_t issued = 0;  ///< executions by warps
  std::uint64_t lanes = 0;   ///< active lanes of these, added up
};

/// Accesses whose patterns did not fit, with their cost at the time.
struct Excess {
  std::uint32_t site = 0, array = 0;
  banks::Operation operation = banks::Operation::load;
  unsigned width = 4;
  std::uint32_t level = 0;
  std::string architecture;    ///< name in the bank model
  std::uint64_t accesses = 0;  ///< in warps of the trace; the tally is in warps of the architecture
  std::uint64_t mixed = 0;     ///< accesses of the tally whose lanes go to different arrays
  banks::Tally tally;
  std::string why_unknown;  ///< one sentence, if the tally has accesses without a cost
};

/// Accesses to global memory, or to other blocks' shared memory, whose patterns did not fit, with their cost at the
/// time.
struct GlobalExcess {
  std::uint32_t site = 0;
  banks::Operation operation = banks::Operation::load;
  unsigned width = 4;
  std::string architecture;    ///< name in the bank model
  std::uint64_t accesses = 0;  ///< in warps of the trace; the tally is in warps of the architecture
  banks::SectorTally tally;
};

/// Accesses to the memory of single threads: spilled registers, arrays that are indexed at run time. They have no cost.
struct LocalAccesses {
  std::uint32_t site = 0;
  banks::Operation operation = banks::Operation::load;
  unsigned width = 4;
  std::uint64_t accesses = 0, lanes = 0;
};

/// Equal instructions of an engine.
struct EngineAccesses {
  std::uint32_t site = 0;
  banks::EngineWork work;
  std::uint64_t count = 0;  ///< wgmma: of warpgroups
};

/// Accesses of which nothing else is known, by the reason why they have no cost: "cp.async"; "" if that is not known.
/// 0: it is not known how many there are.
using LeftOut = std::map<std::string, std::uint64_t>;
std::uint64_t total(const LeftOut& left_out);

/// Memories whose accesses cost sectors: global memory, and the shared memory of other blocks of a cluster.
enum class SectorMemory { global, remote };
inline constexpr int sector_memory_count = 2;
inline constexpr std::string_view remote_memory = "shared memory of other blocks";

/// What launches took in a run of the program that nobody watched.
struct KernelTime {
  std::uint64_t launches = 0;
  std::uint64_t nanoseconds = 0;  ///< all launches together
  std::uint64_t clock_khz = 0;    ///< of the multiprocessors, in the same run
  std::string gpu;                ///< its name: "NVIDIA H200"
  bool overlapped = false;        ///< other kernels ran at the same time
  // More of the GPU; 0: not known.
  std::uint64_t multiprocessors = 0;
  std::uint64_t l2_bytes = 0;   ///< capacity of its L2 cache
  std::uint64_t dram_mb_s = 0;  ///< 10^6 bytes per second that the pins of its DRAM transfer

  /// Later launches. The clock and the GPU are the first ones'.
  void add(const KernelTime& other);
  bool operator==(const KernelTime&) const = default;
};

/// What the producer found wrong at one place, or at two. A producer in the same process throws an emulator::Diagnosis.
struct DiagnosisRecord {
  Fault fault = Fault::race;
  std::uint32_t site = 0;              ///< index into KernelTrace::sites
  std::optional<std::uint32_t> other;  ///< the second place of a race
  bool ended = false;                  ///< it ended its launch
  std::string text;                    ///< the first time: "lane 3 of block (0, 0, 0) of k reads ...", with its switch
  std::uint64_t count = 0;             ///< how often
  Occurrence first;                    ///< without the number of an access
};

/// Launches of one size. OpenCL: global and local size.
struct LaunchShape {
  std::array<std::uint64_t, 3> threads{1, 1, 1};  ///< in the whole grid
  std::array<std::uint64_t, 3> block{1, 1, 1};    ///< in a block
  std::uint64_t launches = 1;
};

/// One access in the order of execution.
struct OrderedAccess {
  std::uint32_t pattern = 0;  ///< index into KernelTrace::patterns
  std::uint64_t block = 0;
  unsigned warp = 0;
};

/// Index into Trace::sources of a kernel without a source.
inline constexpr std::uint32_t no_source = ~0U;

/// All traced launches of one kernel.
struct KernelTrace {
  std::string kernel;                ///< its name; "?" where the program has no symbols
  std::string options;               ///< build options of its program
  std::uint32_t source = no_source;  ///< index into Trace::sources
  unsigned warp = 32;                ///< lanes of a warp in the producer: 1 to 64
  bool splits = false;     ///< lanes did not wait for each other: patterns hold for every divisor of `warp`, too
  bool knows_code = true;  ///< false: the producer knows no sites and loops
  std::vector<LaunchShape> shapes;  ///< each size once, in the order of their first launches
  std::uint64_t blocks = 0;         ///< traced to their end
  std::uint32_t levels = 0;         ///< the most levels of a block: barriers + 1
  std::vector<Site> sites;
  std::vector<Array> arrays;
  std::vector<Pattern> patterns;
  /// The patterns once a device compiler has merged neighbours and dropped repeated loads. Empty if it changes nothing,
  /// or if the producer does not know.
  std::optional<std::vector<Pattern>> merged;
  std::vector<Participants> participants;
  std::vector<BasicBlock> basic_blocks;
  bool watches_shared = true;   ///< else it is not known what is in shared memory
  bool watches_global = false;  ///< else the members about global memory are empty
  /// Accesses to global memory: `array`, `level`, `lane_arrays` and `sources` mean nothing. Operations are load, store,
  /// atomic (each kind, with or without a result) and cp_async. Addresses are those of relative_to_line().
  std::vector<Pattern> global_patterns;
  std::uint64_t global_excess_accesses = 0;  ///< as below: `global_excess` has their cost on some architectures
  std::vector<GlobalExcess> global_excess;
  std::uint64_t global_left_out = 0;  ///< accesses of which nothing else is known
  /// The same for the shared memory of other blocks; addresses count from the start of a block's shared memory.
  std::vector<Pattern> remote_patterns;
  std::uint64_t remote_excess_accesses = 0;
  std::vector<GlobalExcess> remote_excess;
  std::vector<EngineAccesses> engines;
  std::vector<LocalAccesses> local_accesses;
  /// Different sectors of 32 bytes that a launch reads and writes, added up over the launches: at least.
  std::uint64_t sectors_read = 0, sectors_written = 0;
  std::optional<KernelTime> time;
  std::uint64_t copied_bytes = 0;     ///< to and from shared memory, by instructions without lanes that have no cost
  LeftOut left_out;                   ///< from shared memory: this block's, and other blocks'
  std::uint64_t excess_accesses = 0;  ///< that did not fit into patterns: `excess` has their cost on some architectures
  std::vector<Excess> excess;
  std::vector<DiagnosisRecord> diagnoses;  ///< those of all blocks, traced or not
  std::vector<OrderedAccess> order;        ///< only if requested from the producer; never in a file
};

/// The members of a kernel that belong to one memory; in a file their keys begin with `name`.
struct SectorMembers {
  std::string_view name;
  std::vector<Pattern> KernelTrace::*patterns;
  std::uint64_t KernelTrace::*excess_accesses;
  std::vector<GlobalExcess> KernelTrace::*excess;
};

/// In the order of SectorMemory.
inline constexpr std::array<SectorMembers, sector_memory_count> sector_members{
    {{"global", &KernelTrace::global_patterns, &KernelTrace::global_excess_accesses, &KernelTrace::global_excess},
     {"remote", &KernelTrace::remote_patterns, &KernelTrace::remote_excess_accesses, &KernelTrace::remote_excess}}};

/// The checker that watched a program.
enum class Maker { other, opencl, emulate, cuda };

/// As files spell it: "bankcheck opencl"; "" for others.
std::string_view to_string(Maker maker);
Maker maker_named(std::string_view name);

/// A run of a program.
struct Trace {
  Maker maker = Maker::other;
  std::string revision;              ///< the maker's version
  std::vector<std::string> command;  ///< the command line of the traced program
  std::vector<std::string> sources;  ///< texts of OpenCL programs
  std::vector<KernelTrace> kernels;  ///< each once, in the order of their first launches
  std::vector<std::string> errors;   ///< failures, one sentence each: the trace may lack later launches
};

/// Addresses of global memory, for each lane up to the last active one, as patterns have them: bytes from the cache
/// line (128 bytes) of the lowest one. So equal accesses at different places are equal. Sectors and lines stay as they
/// are, but a gap of 16 MiB or more becomes one of 16 MiB, so that the offsets fit into 32 bits.
std::vector<std::uint32_t> relative_to_line(std::uint64_t mask, const std::uint64_t* addresses);

/// Truncates the lists of a pattern after the last active lane, writes 0 for inactive lanes, and reduces sources to
/// what Pattern::sources keeps.
void normalize(Pattern& pattern);

/// Blocks of a launch; 2^64 - 1 for a shape with more.
std::uint64_t blocks_of(const LaunchShape& shape);

/// Whether a block is recorded, by its linear number in a grid of `blocks`, if at most `max_blocks` of them are:
/// exactly that many, at equal distances. All are if `max_blocks` is 0.
bool is_sampled(std::uint64_t block, std::uint64_t blocks, std::uint64_t max_blocks);

/// The total over all shapes.
std::uint64_t launches_of(const KernelTrace& kernel);
std::uint64_t launched_blocks(const KernelTrace& kernel);

/// Recorded accesses, in warps of the trace.
std::uint64_t accesses_of(const KernelTrace& kernel);

/// The second trace of a kernel: as if the program made the accesses that a device compiler may leave.
KernelTrace merged(const KernelTrace& kernel);

/// "race: lane 3 of block (0, 0, 0) of k reads ...; 12 times", without the place.
std::string sentence_of(const DiagnosisRecord& diagnosis);

/// The same after its place: "k.cu:12: race: ...".
std::string placed_sentence_of(const DiagnosisRecord& diagnosis, const KernelTrace& kernel);

}  // namespace bankwise::trace
