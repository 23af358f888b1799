// Internal to common/bankwise/emulator: records the accesses of warps to global memory.
//
// A lane does not suspend before it accesses global memory: it logs the access, with the number of notes that it has
// made. When its warp processes these notes, the lanes that process them together have made the accesses together.
//
// Most lanes do what the first one that runs has done: this one writes down its accesses to device memory, and the
// others add their addresses to these. Then each is recorded, and a load is checked for races, once for all of them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include <bankwise/emulator/core/block.hpp>
#include <bankwise/emulator/core/global_memory.hpp>
#include <bankwise/emulator/core/global_patterns.hpp>
#include <bankwise/emulator/core/global_races.hpp>

namespace bankwise::emulator {

/// What the lanes of a warp have done together since the first of them was resumed.
struct WarpLog {
  static constexpr std::size_t max_accesses = 192, enough = 128;
  std::unique_ptr<JointAccess[]> accesses;  ///< in the order of their notes; at `count`, the pc is 0
  std::size_t count = 0, made = 0;          ///< the warp has made the first ones
  unsigned run = 0;                         ///< its number
  unsigned level = 0, syncs = 0;            ///< those of RunningBlock when it began
  unsigned notes = Lane::max_notes;         ///< after so many, lanes that follow are resumed again
  void forget_made() {
    while (made < count && accesses[made].open() == 0) ++made;
  }
};

/// The accesses of the blocks that a host thread runs.
class GlobalAccesses {
 public:
  GlobalAccesses(RunningBlock& block, GlobalRaces& races)
      : block_(block), races_(races), patterns_(block.launch.global_patterns, block.launch.sectors_of) {}

  /// Whether the running block's accesses are recorded.
  bool watches() const { return watches_; }
  void begin_block();
  /// The lane is about to be resumed: it leads its warp, or follows the lane that does, or neither.
  void begin_run(Lane& lane);
  /// The running lane is about to do what may order its accesses with those of other threads.
  void note_sync(const Lane& lane) {
    if (lane.checks_later) check_now(lane);
  }
  /// Checks all loads of the lane's warp that were to be checked later.
  void check_now(const Lane& lane);
  /// The running lane is about to load what the lane that it follows has loaded next, and what is checked for races
  /// later. False: it is another access, or one to be checked now.
  template <unsigned bytes>
  static bool follow_load(Lane& lane, const void* address, std::uintptr_t pc) {
    JointAccess& next = *lane.joint;
    if (!is_next<bytes>(lane, address, pc) || !lane.checks_later || lane.store.bytes != 0) return false;
    make_next(lane, address);
    next.unchecked |= lane.bit;
    return true;
  }
  /// The same for a store.
  template <unsigned bytes>
  bool follow_store(Lane& lane, const void* address, std::uintptr_t pc) {
    JointAccess& next = *lane.joint;
    if (!is_next<bytes>(lane, address, pc)) return false;
    make_next(lane, address);
    next.lanes |= lane.bit;
    const bool is_repeated =
        lane.checks_later && lane.store.bytes == 0 && GlobalRaces::is_repeated_store<bytes>(address, next.touch);
    if (!is_repeated) check_store<bytes>(lane, address, next);
    return true;
  }
  /// Any access to device memory that BlockRunner::is_usual().
  template <banks::Operation operation, unsigned bytes>
  void access(Lane& lane, const void* address, std::uintptr_t pc) {
    constexpr bool loads = operation == banks::Operation::load;
    if (!watches_ && !races_.watches()) return;
    const LoggedAccess access{std::uintptr_t(address), pc, bytes, operation, 0, std::uint16_t(lane.noted)};
    JointAccess* const joint = join(lane, access);
    if (joint == nullptr && watches_) log_alone(lane, access);
    if (loads && access.address % bytes == 0 && joint != nullptr && lane.checks_later) {
      races_.settle(lane);
      joint->unchecked |= lane.bit;
    } else {
      races_.check<!loads, bytes>(lane, address, pc);
    }
  }
  /// It is about to access memory that is neither shared nor its stack; nothing else is done about it here.
  void log(Lane& lane, const LoggedAccess& access) {
    const auto* const address = reinterpret_cast<const void*>(access.address);
    const bool is_device = global_memory.contains(address);
    if ((is_device || !is_constant(address)) && join(lane, access) == nullptr) log_alone(lane, access);
  }

  // --- Lanes that run ahead of their warp (run_ahead.hpp), whose steps count as notes ---

  void begin_ahead(Lane& lane, bool leads);
  /// The running lane is about to load from device memory. False: it cannot do so together with the others.
  bool load_ahead(Lane& lane, const LoggedAccess& access) {
    JointAccess* const joint = join(lane, access);
    if (joint != nullptr) joint->unchecked |= lane.bit;
    return joint != nullptr;
  }
  /// Whether one of them has loaded after so many steps.
  bool has_joint(const RunningWarp& warp, std::size_t steps) const {
    const WarpLog& log = logs_[number_of(warp)];
    return log.count != 0 && log.accesses[log.count - 1].noted >= steps;
  }
  /// They go back, and have loaded nothing.
  void forget_ahead(const RunningWarp& warp);
  /// They have made these steps, and their notes count from there.
  void forget_steps(const RunningWarp& warp, std::size_t steps);

  /// The lanes of `group` have processed notes together, up to `next` of each lane: they make the accesses that they
  /// have logged after the last of these.
  void perform(const RunningWarp& warp, std::uint64_t group) {
    if (is_pending(warp)) take(warp, group);
  }
  bool is_pending(const RunningWarp& warp) const {
    const std::size_t number = number_of(warp);
    return pending_[number] != 0 || logs_[number].made != logs_[number].count;
  }
  /// Whether lanes that have processed so many notes may have an access to make.
  bool is_due(const RunningWarp& warp, unsigned notes) const {
    const std::size_t number = number_of(warp);
    const WarpLog& log = logs_[number];
    return pending_[number] != 0 || (log.made != log.count && log.accesses[log.made].noted <= notes);
  }
  /// The same for lanes that have all processed so many notes, if none of the warp has logged an access alone.
  void make_together(const RunningWarp& warp, std::uint64_t group, unsigned notes);
  bool has_alone(const RunningWarp& warp) const { return pending_[number_of(warp)] != 0; }
  const GlobalPatterns& patterns() const { return patterns_; }
  /// Kernels cannot change what is there.
  static bool is_constant(const void* address);

 private:
  unsigned number_of(const RunningWarp& warp) const { return warp.first / block_.launch.warp; }
  template <unsigned bytes>
  static bool is_next(const Lane& lane, const void* address, std::uintptr_t pc) {
    const JointAccess& next = *lane.joint;
    const std::uintptr_t offset = std::uintptr_t(address) - next.begin;
    return next.pc == pc && next.noted == lane.noted && offset <= next.last && offset % bytes == 0;
  }
  // Not inlined: what is done for each store saves no registers.
  template <unsigned bytes>
  [[gnu::noinline]] void check_store(Lane& lane, const void* address, const JointAccess& joint) {
    lane.checks_later ? races_.store(lane, address, bytes, joint.pc, joint.touch)
                      : races_.check<true, bytes>(lane, address, joint.pc);
  }
  static void make_next(Lane& lane, const void* address) {
    JointAccess& next = *lane.joint++;
    next.offsets[lane.number] = std::uint32_t(std::uintptr_t(address) - next.begin);
  }
  JointAccess* join(Lane& lane, const LoggedAccess& access);
  JointAccess* add(Lane& lane, const LoggedAccess& access);
  void lead(Lane& lane, WarpLog& log);
  void follow(Lane& lane, WarpLog& log);
  void log_alone(Lane& lane, const LoggedAccess& access) {
    lane.global.push_back(access);
    ++pending_[lane.warp];
  }
  void take(const RunningWarp& warp, std::uint64_t group);
  void make(const RunningWarp& warp, JointAccess& joint, std::uint64_t lanes);
  void split(const RunningWarp& warp, const JointAccess& joint, std::uint64_t lanes);
  void record(unsigned warp, const JointAccess& joint, std::uint64_t lanes);
  void record(unsigned number, const LoggedAccess& access, std::uint64_t mask);
  unsigned promised_alignment(const LoggedAccess& access) const;
  unsigned unit(const LoggedAccess& access, std::uint64_t mask);

  RunningBlock& block_;
  GlobalRaces& races_;
  GlobalPatterns patterns_;
  bool watches_ = false;
  bool joins_ = false;         ///< lanes follow each other
  std::vector<WarpLog> logs_;  ///< of each warp
  // The running lane.
  JointAccess nothing_;  ///< that no lane can make
  bool leads_ = false;
  unsigned leads_from_ = 0;                             ///< so many notes on
  std::uint64_t accesses_ = 0;                          ///< of the block
  std::vector<std::size_t> pending_;                    ///< logged accesses of each warp
  std::array<std::uint64_t, banks::max_lanes> lanes_;   ///< addresses of the running access
  std::unordered_map<std::uintptr_t, unsigned> units_;  ///< where a type guarantees no alignment; by instruction
};

}  // namespace bankwise::emulator
