// The record of one process: a text file in the folder that bankcheck reads after the program, and the cubins next
// to it.
//
// Each function writes one line. Except for pattern(), cost() and bulk(), the line is in the file when the function
// returns, and so are all lines before it: a program that crashes loses nothing that was written. Lines of one launch
// shape, one pattern, one cost, one bulk copy or one kernel's losses may be repeated; their counts add up. All
// functions may be called from any thread.
#pragma once

#include <cstdint>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <bankwise/support/watch_request.hpp>
#include "bankcheck/cuda/injection/device_table.hpp"

namespace bankwise::cuda {

struct LaunchDimensions {
  std::uint32_t grid[3], block[3];  ///< in blocks, in threads
  std::uint32_t dynamic_bytes = 0;  ///< dynamic shared memory
  auto operator<=>(const LaunchDimensions&) const = default;
};

class RecordWriter {
 public:
  /// The file is made by start(), or by the first line. Its name has the process's id and the time, in nanoseconds.
  explicit RecordWriter(std::string folder, support::MemorySpaces memory = {});
  ~RecordWriter();
  RecordWriter(const RecordWriter&) = delete;
  RecordWriter& operator=(const RecordWriter&) = delete;

  /// Makes the file. Throws std::runtime_error with a sentence if that fails.
  void start();

  void device(int id, int major, int minor, std::string_view name);
  void module(std::uint32_t id, int device, std::uint64_t bytes);
  void kernel(std::uint32_t id, std::uint32_t module, std::uint64_t pc, std::uint64_t bytes, std::string_view name);
  void launch(std::uint32_t kernel, const LaunchDimensions& shape, std::uint64_t launches, std::uint64_t blocks);
  /// `addresses` has an address for each lane of `mask`, lowest lane first; as PatternEntry has them.
  void pattern(std::uint32_t kernel, std::uint64_t pc_offset, std::string_view kind, std::uint32_t width,
               std::uint32_t flags, std::uint32_t mask, std::uint64_t count, std::span<const std::uint32_t> addresses);
  /// Accesses of one instruction that have one cost, and whose pattern had no room.
  void cost(std::uint32_t kernel, std::uint64_t pc_offset, std::string_view kind, std::uint32_t width,
            std::uint32_t flags, PackedCost cost, std::uint64_t count);
  /// `memory` is "shared", or "global" for global and local memory.
  void lost(std::uint32_t kernel, std::string_view memory, std::uint64_t accesses);
  /// `words` has ENGINE_WORDS; none for sectors.
  void bulk(std::uint32_t kernel, std::uint64_t pc_offset, std::string_view what, std::uint64_t count,
            std::span<const std::uint32_t> words = {});
  /// Writes what pattern(), cost() and bulk() have kept.
  void flush() { write(""); }
  /// A sentence that was written before is not repeated.
  void error(const std::string& sentence);
  /// The last line, unless no line was ever written, or one could not be.
  void end();

  /// Writes a cubin. Returns false if that fails.
  bool write_cubin(std::uint32_t module, std::string_view bytes);
  void remove_cubin(std::uint32_t module);

 private:
  void open_file();
  void write(const std::string& line, std::size_t bytes_to_keep = 0);
  std::string cubin_path(std::uint32_t module) const;

  std::mutex mutex_;
  const support::MemorySpaces memory_;
  std::string folder_, stem_, waiting_;
  int file_ = -1;
  bool failed_ = false, ended_ = false;
  std::set<std::string> errors_;
};

struct PatchPoint {
  int instruction;                     ///< Sanitizer_InstructionId
  const char* function;                ///< in patch.cu
  std::string_view what;               ///< for people
  bool required;                       ///< the others are unknown to older versions of the library, or on older GPUs
  bool shared = true, global = false;  ///< whether it is needed to watch them
};

/// Each instruction that has to be patched to watch these memory spaces, once.
std::vector<PatchPoint> patch_points(support::MemorySpaces memory);

/// The `kind` of a pattern, from PatternEntry::what.
std::string_view kind_of_access(std::uint32_t what);

/// The `what` of a bulk record, "sectors_read" for example; empty if it is a pattern.
std::string_view name_of_bulk(std::uint32_t what);

}  // namespace bankwise::cuda
