// Internal to common/bankwise/emulator: races in device memory, between the warps of a launch.
//
// Each word has its last write and its last read. A barrier of the block orders two accesses of a block, and this is
// known exactly. Fences, atomics and volatile accesses may order any others, so two accesses of a block with one of
// these between them are not reported, nor is an access to what another block has accessed, if its own block has
// executed one of these before. A silent store, of the value that is there, races only with a later one of another.
#pragma once

#include <array>
#include <cstdint>
#include <utility>

#include <bankwise/emulator/core/block.hpp>

namespace bankwise::emulator {

/// What is known of the last write, or read, of a word.
struct GlobalTouch {
  static constexpr unsigned several_blocks = (1U << 22) - 1, several_warps = 63, max_level = 511, max_syncs = 31;
  std::uint64_t epoch : 8, block : 22, warp : 6, level : 9, syncs : 5, site : 9, silent : 1, bytes : 4;
};
static_assert(sizeof(GlobalTouch) == 8);

/// The accesses of the blocks that a host thread runs.
class GlobalRaces {
 public:
  /// `epoch`: as new_epoch() returns it for the launch.
  GlobalRaces(RunningBlock& block, unsigned epoch) : block_(block), epoch_(can_watch(block) ? epoch : 0) {}

  /// A number for a launch, whose accesses are ordered with those of all others.
  static unsigned new_epoch();

  /// The running lane is about to load or to store.
  void access(Lane& lane, const void* address, std::size_t bytes, bool writes, std::uintptr_t pc) {
    if (epoch_ != 0) watch(lane, address, bytes, writes, pc);
  }
  /// A lane has done what it was about to do.
  void settle(Lane& lane) {
    if (lane.store.bytes != 0) end_store(lane);
  }

 private:
  /// An access to device memory.
  struct GlobalAccess {
    std::uintptr_t address;
    std::size_t bytes;
    std::uintptr_t pc;
    bool writes, silent;
  };
  static bool can_watch(const RunningBlock& block);
  void watch(Lane& lane, const void* address, std::size_t bytes, bool writes, std::uintptr_t pc);
  void end_store(Lane& lane);
  void touch(Lane& lane, const GlobalAccess& access);
  void compare(Lane& lane, const GlobalAccess& access, std::uintptr_t word, GlobalTouch now);
  void report(Lane& lane, const GlobalAccess& access, GlobalTouch other, bool other_writes);
  unsigned site(std::uintptr_t pc);

  RunningBlock& block_;
  unsigned epoch_;  ///< 0: nothing is watched
  std::array<std::pair<std::uintptr_t, unsigned>, 256> sites_{};
};

}  // namespace bankwise::emulator
