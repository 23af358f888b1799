// Internal to common/bankwise/emulator: the traced blocks of a host thread. Most blocks of a launch do exactly what the
// block before them did, so what a block does is first compared with a log of that block, and recorded only from where
// it differs. Equal blocks are counted.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include <bankwise/emulator/core/recorder.hpp>

namespace bankwise::emulator {

/// As BlockRecorder, for one block after another.
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
