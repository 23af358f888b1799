// Internal to common/bankwise/emulator: records the accesses of warps to global memory.
//
// A lane does not suspend before it accesses global memory: it logs the access, with the number of notes that it has
// made. When its warp processes these notes, the lanes that process them together have made the accesses together.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include <bankwise/emulator/core/block.hpp>
#include <bankwise/emulator/core/global_memory.hpp>
#include <bankwise/emulator/core/global_patterns.hpp>

namespace bankwise::emulator {

/// The accesses of the blocks that a host thread runs.
class GlobalAccesses {
 public:
  explicit GlobalAccesses(RunningBlock& block)
      : block_(block), patterns_(block.launch.global_patterns, block.launch.sectors_of) {}

  /// Whether the running block's accesses are recorded.
  bool watches() const { return watches_; }
  void begin_block();
  /// A lane is about to access memory that is neither shared nor its stack.
  void log(Lane& lane, banks::Operation operation, const void* address, std::size_t bytes, bool as_aligned,
           std::uintptr_t pc) {
    if (!global_memory.contains(address) && is_constant(address)) return;
    log_device(lane, operation, address, bytes, as_aligned, pc);
  }
  /// The same for device memory.
  [[gnu::always_inline]] void log_device(Lane& lane, banks::Operation operation, const void* address, std::size_t bytes,
                                         bool as_aligned, std::uintptr_t pc) {
    lane.global.push_back(
        {std::uintptr_t(address), pc, std::uint32_t(bytes), operation, as_aligned, std::uint16_t(lane.noted)});
    ++pending_[lane.warp];
  }
  /// So many are in Lane::global that log() has not put there.
  void expect(const Lane& lane, std::size_t accesses) { pending_[lane.warp] += accesses; }
  /// The lanes of `group` have processed notes together, up to `next` of each lane: they make the accesses that they
  /// have logged after the last of these.
  void perform(const RunningWarp& warp, std::uint64_t group) {
    if (is_pending(warp)) take(warp, group);
  }
  bool is_pending(const RunningWarp& warp) const { return watches_ && pending_[warp.first / block_.launch.warp] != 0; }
  const GlobalPatterns& patterns() const { return patterns_; }
  /// Kernels cannot change what is there.
  static bool is_constant(const void* address);

 private:
  void take(const RunningWarp& warp, std::uint64_t group);
  void record(unsigned number, const LoggedAccess& access, std::uint64_t mask);
  unsigned unit(const LoggedAccess& access, std::uint64_t mask);

  RunningBlock& block_;
  GlobalPatterns patterns_;
  bool watches_ = false;
  std::uint64_t accesses_ = 0;                          ///< of the block
  std::vector<std::size_t> pending_;                    ///< logged accesses of each warp
  std::array<std::uint64_t, banks::max_lanes> lanes_;   ///< addresses of the running access
  std::unordered_map<std::uintptr_t, unsigned> units_;  ///< where a type guarantees no alignment; by instruction
};

}  // namespace bankwise::emulator
