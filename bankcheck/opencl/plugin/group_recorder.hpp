// Combines the accesses of lanes that ran one after another into accesses of 64 lanes, counts them, and selects the
// launches to record.
#pragma once

#include <fnmatch.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include <bankwise/support/watch_request.hpp>
#include <bankwise/trace/builder.hpp>
#include "bankcheck/opencl/plugin/control_flow.hpp"

namespace bankwise::opencl {

/// The different sectors (32 bytes) of global memory that a launch reads and writes: one bit each, in pages of 128 KiB
/// that are made when they are touched. Several threads may touch sectors at the same time.
class TouchedSectors {
 public:
  static constexpr unsigned sector_bytes = 32;

 private:
  static constexpr unsigned sectors_of_page = 4096;
  using Bits = std::array<std::atomic<std::uint64_t>, sectors_of_page / 64>;
  struct Page {
    Bits read{}, written{};
  };

 public:
  struct Counts {
    std::uint64_t read = 0, written = 0;
  };

  Counts counts() const {
    const std::lock_guard lock(mutex_);
    Counts sum;
    for (const auto& [number, page] : pages_) {
      for (const auto& bits : page->read) sum.read += unsigned(std::popcount(bits.load(std::memory_order_relaxed)));
      for (const auto& bits : page->written)
        sum.written += unsigned(std::popcount(bits.load(std::memory_order_relaxed)));
    }
    return sum;
  }

  /// A thread's way to them: it remembers the pages.
  class Toucher {
   public:
    explicit Toucher(TouchedSectors& sectors) : sectors_(&sectors) {}

    void touch(std::uint64_t address, std::uint64_t bytes, bool is_store) {
      const std::uint64_t end = (address + bytes - 1) / sector_bytes + 1;
      for (std::uint64_t sector = address / sector_bytes; sector < end; ++sector) {
        Page& page = page_of(sector / sectors_of_page);
        auto& bits = (is_store ? page.written : page.read)[sector % sectors_of_page / 64];
        const std::uint64_t bit = std::uint64_t{1} << sector % 64;
        if ((bits.load(std::memory_order_relaxed) & bit) == 0) bits.fetch_or(bit, std::memory_order_relaxed);
      }
    }

   private:
    Page& page_of(std::uint64_t number) {
      auto& [known, page] = last_[number % last_.size()];
      if (page == nullptr || known != number) {
        known = number;
        page = sectors_->page(number);
      }
      return *page;
    }

    TouchedSectors* sectors_;
    std::array<std::pair<std::uint64_t, Page*>, 256> last_{};  // each at its number modulo the size
  };

 private:
  Page* page(std::uint64_t number) {
    const std::lock_guard lock(mutex_);
    auto& page = pages_[number];
    if (page == nullptr) page = std::make_unique<Page>();
    return page.get();
  }

  mutable std::mutex mutex_;
  std::unordered_map<std::uint64_t, std::unique_ptr<Page>> pages_;
};

/// Distance of the arrays in the model's shared memory: each begins at bank 0 on every architecture. A device places
/// them elsewhere. That makes no difference for an access within one array, because a shift only rotates the banks.
inline constexpr std::uint32_t array_stride = 1 << 16;

struct LocalArray {
  std::string name;
  std::uint32_t begin = 0;             ///< a multiple of array_stride
  std::uint32_t bytes = 0;             ///< 0: unknown
  std::vector<std::uint32_t> lengths;  ///< of its dimensions; empty: unknown
};

/// An instruction that accesses memory.
struct Instruction {
  trace::Site site;
  unsigned alignment = 16;     ///< in bytes, as known to the compiler
  bool adds_one_only = false;  ///< an atomic that adds the constant 1 and whose result is unused
  bool is_global = true;       ///< if the memory is Oclgrind's global one: it also holds constants and images
};

/// An access of one lane by one instruction.
struct LaneAccess {
  static constexpr std::uint32_t global = ~0U;

  const Instruction* instruction = nullptr;
  banks::Operation operation = banks::Operation::load;
  unsigned bytes = 4;
  std::uint32_t array = 0;   ///< index of a LocalArray, or `global`
  std::uint64_t offset = 0;  ///< in the array; in global memory the address, in which buffers are far apart
};

/// Records the work-groups of a launch one after another. Lanes are numbered x fastest. Between two barriers a lane
/// runs to its end before the next lane starts, and the recorder keeps the accesses of 64 lanes at a time. For use by
/// one thread.
class GroupRecorder {
 public:
  /// Limit for the accesses of 64 lanes that all threads together keep between two barriers: about 600 bytes each.
  static constexpr std::size_t max_rows = std::size_t{1} << 22;

  /// `touched`: the launch's; without it there is no access to global memory.
  explicit GroupRecorder(trace::Bound bound, TouchedSectors* touched = nullptr);

  GroupRecorder(GroupRecorder&&) = default;
  GroupRecorder(const GroupRecorder&) = delete;
  ~GroupRecorder() { forget_rows(); }

  void begin(std::uint64_t group, const std::vector<LocalArray>& arrays);
  void access(unsigned lane, LanePath& path, const LaneAccess& access);
  void barrier();
  /// Counts bytes of async_work_group_copy, which has no lanes, and no cost in the model.
  void copied(std::uint64_t bytes) { builder_.trace().copied_bytes += bytes; }
  /// Bytes of global memory that are accessed, but not by a lane's load or store.
  void touch(std::uint64_t address, std::uint64_t bytes, bool is_store) { touched_->touch(address, bytes, is_store); }
  /// The group has ended.
  void end();

  /// The trace of the recorded work-groups, without the kernel's name and shape. The recorder cannot be used
  /// afterwards.
  trace::KernelTrace take() { return builder_.take(); }
  /// The same, while the recorder goes on.
  const trace::KernelTrace& so_far() const { return builder_.trace(); }

 private:
  struct Key {
    const Instruction* instruction;
    std::uint32_t path;
    std::uint32_t again;  ///< how often the lane had executed this before, in a cycle that is not a natural loop
    std::uint32_t bytes;
    banks::Operation operation;
    bool is_global;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const {
      const auto instruction = reinterpret_cast<std::uintptr_t>(key.instruction);
      return (instruction ^ key.path * 0x9E3779B97F4A7C15) * 0xD6E8FEB86659FD93 + key.again + unsigned(key.operation);
    }
  };
  /// One access of 64 lanes.
  struct Row {
    Key key;
    std::uint64_t mask = 0;
    std::array<std::uint64_t, banks::max_lanes> addresses;  ///< in local memory with the array in the upper half
  };
  Row* row_of(unsigned lane, std::uint32_t path, const LaneAccess& access);
  void forget_rows();
  void flush();
  void add(const Row& row);
  void add_global(const Row& row);
  std::uint32_t site_of(const Instruction* instruction);

  trace::Builder builder_;
  std::vector<std::uint32_t> arrays_, begins_;  ///< the group's: their numbers in the trace, and their first bytes
  std::unordered_map<const Instruction*, std::uint32_t> sites_;
  trace::Pattern pattern_, global_pattern_;  ///< the pattern to add: members, to reuse their vectors
  std::uint64_t group_ = 0;
  std::uint32_t level_ = 0;
  std::uint64_t accesses_ = 0, global_accesses_ = 0;  ///< by the group
  unsigned chunk_ = 0;                                ///< rows_ holds the 64 lanes from 64 * chunk_
  Paths paths_;
  std::vector<Row> rows_;
  std::size_t next_row_ = 0;  ///< a guess: the row that follows the previous one
  std::unordered_map<Key, std::size_t, Hash> index_;
  std::optional<TouchedSectors::Toucher> touched_;
  static inline std::atomic<std::size_t> all_rows = 0;  ///< in all recorders
};

/// Counts launches, and selects those that the plugin records; all others run without being watched. Not thread-safe.
class WatchedLaunches {
 public:
  explicit WatchedLaunches(support::OpenclRequest request) : request_(std::move(request)) {}

  using Size = std::array<std::uint64_t, 3>;
  /// Whether to record the launch that begins now.
  bool next(const std::string& kernel, const Size& global, const Size& local) {
    const auto matches = [&](const std::string& glob) { return fnmatch(glob.c_str(), kernel.c_str(), 0) == 0; };
    const support::Lines& globs = request_.kernels;
    if (!globs.empty() && std::none_of(globs.begin(), globs.end(), matches)) return false;
    return request_.max_launches == 0 || launches_[{kernel, global, local}]++ < request_.max_launches;
  }

 private:
  support::OpenclRequest request_;
  std::map<std::tuple<std::string, Size, Size>, std::uint64_t> launches_;
};

}  // namespace bankwise::opencl
