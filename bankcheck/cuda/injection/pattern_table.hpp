// The host's side of a table of access patterns (device_table.hpp) in the memory of one context.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <vector>

#include "bankcheck/cuda/injection/device_table.hpp"
#include "bankcheck/cuda/injection/libraries.hpp"

namespace bankwise::cuda {

/// Where things are in a table, in bytes from its start.
struct TableLayout {
  std::uint64_t bytes = 0, counts = 0, entries = 0, costs = 0, launch_slots = 0;
  std::uint32_t slots = 0, capacity = 0;
};

constexpr std::uint32_t LAUNCH_SLOTS = 8192;  ///< in each table

/// A pattern, a cost or a bulk copy as a table has it, and how often it was counted.
struct CountedEntry {
  PatternEntry entry;
  std::uint64_t count;
};

struct TableContents {
  std::vector<CountedEntry> entries;
  std::map<std::uint32_t, std::uint64_t> lost;         ///< accesses of which nothing else is known, by kernel
  std::map<std::uint32_t, std::uint64_t> global_lost;  ///< the same of global and local memory
};

/// What decides the contents of a launch slot. A slot is for one stream, because the copy that fills it is in the order
/// of that stream.
struct LaunchKey {
  std::uint32_t shape = 0;  ///< number of the kernel and its launch shape
  Sanitizer_StreamHandle stream = nullptr;
  bool in_graph = false;  ///< all blocks are watched
  auto operator<=>(const LaunchKey&) const = default;
};

/// LaunchSlot::touched for a table of at most `bytes` that is all zero; waits for that. Error: std::runtime_error.
std::uint64_t make_touched(const SanitizerApi& api, CUcontext context, std::uint64_t bytes,
                           Sanitizer_StreamHandle stream);

/// Functions that call the library throw std::runtime_error with failure(). Not thread-safe.
class PatternTable {
 public:
  /// Allocates and clears the table, and waits for that: its first launch may be in any stream. `touched` is
  /// LaunchSlot::touched.
  PatternTable(const SanitizerApi& api, CUcontext context, std::uint64_t bytes, std::uint64_t touched,
               Sanitizer_StreamHandle stream);

  /// The device address of the launch slot for `key`, and its contents if they have to be copied there; nullptr
  /// contents if that was done before. The address is 0 if all slots are taken. No call of the library.
  std::pair<std::uint64_t, LaunchSlot*> launch_slot(const LaunchKey& key, std::uint32_t kernel,
                                                    std::uint32_t threshold);

  /// Entries in use as the patch last told it, up to FILL_REPORT_STEP less than there are; no call of the library.
  std::uint32_t reported_fill() const { return *static_cast<volatile const std::uint32_t*>(fill_); }
  bool more_than_half_full() const {
    return reported_fill() > layout_.capacity / 2 || slots_.size() > LAUNCH_SLOTS / 2;
  }
  bool unused() const { return slots_.empty(); }

  /// Copies out what was counted, after the work that is in `stream`. Other streams must not be using the table.
  TableContents read(Sanitizer_StreamHandle stream);
  /// Clears the table for new launches, and waits for that.
  void clear(Sanitizer_StreamHandle stream);

 private:
  void copy_out(void* to, std::uint64_t offset, std::uint64_t bytes, Sanitizer_StreamHandle stream);
  void set_zero(std::uint64_t offset, std::uint64_t bytes, Sanitizer_StreamHandle stream);

  const SanitizerApi& api_;
  TableLayout layout_;
  std::uint64_t touched_ = 0;
  std::uint64_t address_ = 0;
  std::uint32_t* fill_ = nullptr;  // in page-locked memory, which the patch writes
  std::map<LaunchKey, std::uint32_t> slots_;
  std::deque<LaunchSlot> slot_contents_;  // stays where it is until the copy to the device has run
};

}  // namespace bankwise::cuda
