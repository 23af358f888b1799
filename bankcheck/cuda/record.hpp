// What the injection library wrote about one process: a text file, one record per line, next to the cubins of the
// modules that the process loaded.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <bankwise/banks/architecture.hpp>
#include <bankwise/support/watch_request.hpp>
#include <bankwise/trace/trace.hpp>

namespace bankwise::cuda {

/// How an instruction was watched; which atomic it was is in the machine code.
enum class Kind {
  load,
  store,
  atomic,
  async,
  ldmatrix,
  stmatrix,
  remote_load,
  remote_store,
  remote_atomic,
  global_load,
  global_store,
  global_atomic,
  global_copy,  ///< what an asynchronous copy reads
  local_load,   ///< local memory: only costs, in which only the lanes mean something
  local_store
};

constexpr bool is_remote(Kind kind) { return kind >= Kind::remote_load && kind <= Kind::remote_atomic; }
constexpr bool is_local(Kind kind) { return kind >= Kind::local_load; }
constexpr bool is_global(Kind kind) { return kind >= Kind::global_load && !is_local(kind); }

struct Device {
  unsigned major = 0, minor = 0;  ///< compute capability
  std::string name;
};

/// Launches of one shape.
struct RecordedLaunches {
  std::array<std::uint64_t, 3> grid{}, block{};  ///< blocks; threads per block
  std::uint64_t dynamic_shared = 0;              ///< bytes per block
  std::uint64_t launches = 0;
  std::uint64_t watched_blocks = 0;  ///< by all these launches together
};

/// One access of a warp, and how often it was made.
struct RecordedPattern {
  std::uint64_t pc = 0;  ///< bytes from the kernel's first instruction
  Kind kind = Kind::load;
  unsigned width = 4;       ///< bytes per lane, at most 32
  std::uint32_t flags = 0;  ///< the callback's; matrices in bits 8 and up
  std::uint32_t mask = 0;   ///< active lanes
  std::uint64_t count = 0;
  /// For each lane up to the last active one; 0 where a lane is inactive. Bytes from the start of shared memory. Global
  /// memory: the signed distance from the cache line of the lowest active lane. Other blocks: the high 8 bits are 0 for
  /// the block that this lane accesses.
  std::vector<std::uint32_t> addresses;
  /// Only of `async`, for the same lanes: what a lane reads in global memory, without the bits within a word, as
  /// trace::Pattern::sources has it; the lines of 128 bytes count only in copies of 16 bytes.
  std::vector<std::uint32_t> sources;
};

/// In the flags of the cost of a copy: past the L1 cache. As only its opcode says whether it is, a copy of 16 bytes has
/// both costs.
inline constexpr std::uint32_t past_l1 = 1;

/// Accesses of one instruction that cost the same on the GPU, and whose patterns had no room in its table.
struct RecordedCost {
  std::uint64_t pc = 0;  ///< bytes from the kernel's first instruction
  Kind kind = Kind::load;
  unsigned width = 4;       ///< bytes per lane
  std::uint32_t flags = 0;  ///< as in RecordedPattern; of `async`: past_l1 or 0
  unsigned lanes = 0;       ///< active
  // Of global memory and that of other blocks: different cache lines, sectors, and elements of `width` bytes.
  unsigned ideal = 0;        ///< passes without conflicts; 0: not known
  unsigned passes = 0;       ///< if lanes that access the same word are served together
  unsigned lane_passes = 0;  ///< if they queue
  std::uint64_t count = 0;
};

/// What has no lanes: bulk copies, TMA, wgmma; and "sectors_read" and "sectors_written", the sectors of global memory
/// that the instruction was the first of its launch to read or to write, at least.
struct BulkCopies {
  std::uint64_t pc = 0, count = 0;  ///< wgmma: of warps
  std::string kind;
  std::vector<std::uint32_t> words;  ///< as PatternEntry (injection/device_table.hpp) has them
};

struct RecordedKernel {
  unsigned module = 0;
  std::uint64_t bytes = 0;  ///< size of its code
  std::string name;         ///< mangled
  std::vector<RecordedLaunches> shapes;
  std::vector<RecordedPattern> patterns;
  std::vector<RecordedCost> costs;
  std::vector<BulkCopies> bulk;
  /// Accesses of which nothing else is known, to shared memory and to the others: the table had no room.
  std::uint64_t lost = 0, global_lost = 0;
};

struct Module {
  unsigned device = 0;
  std::filesystem::path cubin;
};

/// One process.
struct ProcessRecord {
  std::uint64_t process = 0;
  support::MemorySpaces memory{true, false};  ///< that were watched
  std::map<unsigned, Device> devices;
  std::map<unsigned, Module> modules;
  std::map<unsigned, RecordedKernel> kernels;
  std::vector<std::string> errors;  ///< a sentence each: what came after may be missing
  bool ended = false;               ///< in order; otherwise the record is cut short
};

/// Limits: 1 GiB per file, 64 KiB per line, 2^62 per count; a line that breaks the format ends the record, which then
/// has an error and is not `ended`. Error: std::runtime_error if the file cannot be read or is no record of version 3.
ProcessRecord read_record(const std::filesystem::path& path);

struct Resolved {
  trace::Trace trace;
  std::vector<std::string> remarks;  ///< what the user can do to watch more: a sentence each
};

/// Turns what was recorded, by program counter, into a trace by source line. Kernels of one name are one kernel,
/// whichever process launched them. An instruction without line information is a site by its offset. Accesses of which
/// the record says too little for the bank model (an atomic of unknown opcode, TMA stores), or of which the model knows
/// too little (cp.async with .BYPASS and .ZFILL), are left out and counted by cause. A cubin that cannot be read, a
/// record that is cut short and errors of the library are errors of the trace. Patterns beyond the bound of
/// trace::Builder are costed on `architectures`. Accesses that the GPU has costed are excess on its own architecture,
/// and on those of `architectures` that have the same rule; the sectors of bulk copies, too. TMA is left out of global
/// memory.
Resolved resolve(const std::vector<ProcessRecord>& records,
                 const std::vector<const banks::Architecture*>& architectures,
                 const std::map<std::string, trace::KernelTime>& times = {});

/// The architecture of a GPU; null if the bank model does not know it.
const banks::Architecture* architecture_of(const Device& device);

}  // namespace bankwise::cuda
