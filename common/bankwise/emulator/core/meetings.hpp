// Internal to common/bankwise/emulator: where lanes wait for each other: in warp intrinsics, at the barriers of the
// block and of the grid, and at barrier objects.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <unordered_map>
#include <utility>

#include <bankwise/emulator/core/block.hpp>
#include <bankwise/emulator/core/faults.hpp>

namespace bankwise::emulator {

/// A barrier object in shared memory (mbarrier), or a named barrier of a part of the block.
struct Rounds {
  unsigned expected = 0, pending = 0;  ///< arrivals of each round, and those that the current one lacks
  std::uint64_t done = 0;              ///< rounds so far
  Moment completed = 0;                ///< when the last of them ended
};

/// Thrown if another block has failed.
struct Abandoned {};

/// Blocks of a cooperative launch wait for each other here; each has its host thread.
class GridBarrier {
 public:
  explicit GridBarrier(std::uint64_t blocks) : running_(blocks) {}
  /// Returns false if a block has returned, so the others would wait for ever. Error: Abandoned.
  bool arrive_and_wait() {
    std::unique_lock lock(mutex_);
    const std::uint64_t round = round_;
    ++waiting_;
    if (!open()) changed_.wait(lock, [&] { return round_ != round || abandoned_ || running_ < blocks_; });
    if (abandoned_) throw Abandoned();
    return round_ != round;
  }
  /// A block has returned, or failed.
  void leave(bool failed) {
    const std::lock_guard lock(mutex_);
    --running_;
    abandoned_ |= failed;
    changed_.notify_all();
  }

 private:
  bool open() {
    if (waiting_ < blocks_) return false;
    waiting_ = 0;
    ++round_;
    changed_.notify_all();
    return true;
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t running_, blocks_ = running_, waiting_ = 0, round_ = 0;
  bool abandoned_ = false;
};

class Meetings {
 public:
  Meetings(RunningBlock& block, FaultReports& faults, GridBarrier* grid)
      : block_(block), faults_(faults), grid_(grid) {}

  void begin_block() { rounds_.clear(); }
  /// Releases the lanes of a warp whose meeting is complete.
  void settle(RunningWarp& warp);
  /// No lane can move: a meeting ends without some of its lanes, or the barrier opens.
  void settle_barrier();

  /// The rounds of a barrier object, which `address` identifies. Only for the running lane.
  Rounds& rounds(std::uintptr_t address) { return rounds_[address]; }
  bool has_rounds(std::uintptr_t address) const { return rounds_.contains(address); }
  void arrive_at(std::uintptr_t address, unsigned arrivals);

  bool has_grid() const { return grid_ != nullptr; }
  /// Lanes that brought a value other than 0 to the block's last barrier.
  unsigned barrier_sum() const { return barrier_sum_; }

 private:
  void deliver(RunningWarp& warp, std::uint64_t came);
  void end_without_others(const Lane& waiting);
  void check_places();
  bool same_place(std::uintptr_t a, std::uintptr_t b);
  void open_barrier();

  RunningBlock& block_;
  FaultReports& faults_;
  GridBarrier* grid_;  ///< null unless the launch is cooperative
  std::unordered_map<std::uintptr_t, Rounds> rounds_;
  std::map<std::pair<std::uintptr_t, std::uintptr_t>, bool> same_places_;  ///< by two barriers
  unsigned barrier_sum_ = 0;
};

}  // namespace bankwise::emulator
