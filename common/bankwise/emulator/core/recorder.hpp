// Internal to common/bankwise/emulator: what is recorded of a launch.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include <bankwise/emulator/core/faults.hpp>
#include <bankwise/emulator/core/global_patterns.hpp>
#include <bankwise/emulator/core/launch.hpp>
#include <bankwise/emulator/core/merging.hpp>
#include <bankwise/trace/builder.hpp>

namespace bankwise::emulator {

/// The work of one traced block, before sites and arrays have names. Addresses are offsets into thread-local storage,
/// sites program counters (Site::pc), arrays indices into shared_layout().
class BlockRecorder {
 public:
  BlockRecorder(const Launch& launch, std::uint64_t block);

  /// An access of a warp: operation, width, level, mask, is_loop, and addresses up to the last active lane; other
  /// members are overwritten. Returns a number for result_used(), or 0 for an access that has none.
  std::uint64_t add_access(std::uintptr_t pc, unsigned warp, trace::Pattern& access, bool is_volatile);
  /// The compiler moves no access of the warp across this point.
  void fence(unsigned warp) { merging_.fence(warp); }
  /// The result of an atomic_inc is used, so it is an ordinary atomic.
  void result_used(std::uint64_t number);
  void add_basic_block(std::uintptr_t pc, std::uint32_t level, unsigned lanes);
  /// The launch ends before the block does.
  void abandon();
  /// The block has reached its end.
  void finish(std::uint32_t levels);

  std::uint64_t accesses() const { return accesses_; }
  trace::KernelTrace take() { return builder_.take(); }

 private:
  struct Increment {
    std::optional<std::uint32_t> pattern;  ///< empty: final, or it did not fit
    std::size_t step = 0;                  ///< in the trace's order, if the order is recorded
    trace::Occurrence when;
  };

  std::uint32_t site(std::uintptr_t pc);
  void settle_participants();

  trace::Builder builder_;
  std::uint64_t block_;
  bool record_order_;
  std::uint64_t accesses_ = 0;
  std::unordered_map<std::uintptr_t, std::uint32_t> sites_;
  std::vector<std::uint32_t> arrays_;  ///< indices in the builder, of the arrays in shared_layout()
  std::vector<Increment> increments_;  ///< the latest, in a ring
  std::uint64_t increment_count_ = 0;
  std::uint32_t level_ = 0;
  Merging merging_;
  std::vector<std::uint64_t> participants_;  ///< lanes of each warp that accessed shared memory in level_
  std::vector<trace::BasicBlock> basic_blocks_;
  std::unordered_map<std::uint64_t, std::size_t> basic_block_index_;  ///< by level and site
};

/// The traced blocks of a launch. Thread-safe.
class Recording {
 public:
  explicit Recording(const Launch& launch);
  /// Returns the block's own trace.
  trace::KernelTrace take(std::uint64_t block, BlockRecorder recorder);
  /// So many more blocks whose own traces are equal to this one, except for their numbers, which are higher.
  void take_again(trace::KernelTrace own, std::uint64_t blocks);
  void take(const FaultReports& faults);
  void take(const GlobalPatterns& patterns);
  /// The trace with names; the caller fills in the kernel.
  trace::KernelTrace finish();

 private:
  const Launch& launch_;
  std::mutex mutex_;
  trace::Builder builder_;
  GlobalPatterns global_;
  std::map<std::uint64_t, std::vector<trace::OrderedAccess>> orders_;  ///< by block
};

/// As BlockRecorder, for the traced blocks of a host thread, one after another. Most blocks of a launch do exactly what
/// the block before them did, so what a block does is first compared with a log of that block, and recorded only from
/// where it differs. Equal blocks are counted.
class BlockSeries {
 public:
  BlockSeries(const Launch& launch, Recording& recording) : launch_(launch), recording_(recording) {}

  void begin(std::uint64_t block);
  std::uint64_t add_access(std::uintptr_t pc, unsigned warp, trace::Pattern& access, bool is_volatile);
  void fence(unsigned warp);
  void result_used(std::uint64_t number);
  void add_basic_block(std::uintptr_t pc, std::uint32_t level, unsigned lanes);
  std::uint64_t accesses() const { return recorder_->accesses(); }
  void finish(std::uint32_t levels);
  void abandon();
  /// No block follows.
  void end();

 private:
  enum class Call : std::uint8_t { access, fence, result_used, basic_block };
  /// A call, whose addresses and sources follow it in the log.
  struct Event {
    std::uint64_t pc = 0, mask = 0;
    std::uint32_t number = 0, level = 0;  ///< of the warp, the result, or lanes
    std::uint32_t width = 0;
    Call call = Call::access;
    std::uint8_t operation = 0;
    bool is_loop = false, is_volatile = false;
  };
  static_assert(sizeof(Event) == 32 && std::has_unique_object_representations_v<Event>);
  static constexpr std::size_t max_words = std::size_t{8} << 20;  // of a log

  bool repeats(const Event& event, std::span<const std::uint32_t> addresses = {},
               std::span<const std::uint32_t> sources = {});
  void differ();
  std::uint64_t record(const Event& event, trace::Pattern& access);
  void count_equal();

  const Launch& launch_;
  Recording& recording_;
  std::vector<std::uint32_t> log_;  ///< of the last block, and of this one as far as they are equal
  std::size_t at_ = 0;              ///< where this block is in it
  bool has_log_ = false;            ///< the log is of a whole block
  bool logs_ = false;               ///< this block's calls are added to it
  std::uint64_t block_ = 0, increments_ = 0;
  std::optional<BlockRecorder> recorder_;  ///< nothing: this block is equal so far
  trace::KernelTrace last_;                ///< of the block that the log is of
  std::uint32_t levels_ = 0;
  std::uint64_t equal_ = 0;  ///< blocks since, which are not in the recording yet
  std::vector<std::uint32_t> compact_addresses_, compact_sources_;
};

}  // namespace bankwise::emulator
