// SPDX-License-Identifier: MIT
//
// Internal to common/bankwise/emulator: where lanes wait for each other: in warp intrinsics, at the barriers of the
// block and of the grid, and at barrier objects.
#pragma once

#include <cstdint>
#include <map>
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

/// Blocks of a cooperative launch wait for each other here; each has its host thread.
class GridBarrier {
 public:
  virtual ~GridBarrier() = default;
  /// Returns false if a block has returned, so the others would wait for ever.
  virtual bool arrive_and_wait() = 0;
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
  void open_grid_barrier(const Lane& waiting);
  [[noreturn]] void diagnose_round(const Lane& waiting);

  RunningBlock& block_;
  FaultReports& faults_;
  GridBarrier* grid_;  ///< null unless the launch is cooperative
  std::unordered_map<std::uintptr_t, Rounds> rounds_;
  std::map<std::pair<std::uintptr_t, std::uintptr_t>, bool> same_places_;  ///< by two barriers
  unsigned barrier_sum_ = 0;
};

}  // namespace bankwise::emulator
