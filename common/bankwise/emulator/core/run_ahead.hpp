// Internal to common/bankwise/emulator: lanes that run ahead of their warp.
//
// In lock-step a lane suspends before each access to shared memory. If all lanes of a warp that can continue are at one
// access, or after one barrier, each may instead run on, past this access and the next, up to a barrier, an intrinsic,
// an atomic, a volatile access or a store to global memory. The result is that of lock-step if
//   - all of them pass the same places: the first lane writes these down, and the others compare;
//   - none accesses a word that another one of them has written, or writes what another one has read;
//   - none accesses another one's stack;
//   - no access is a fault.
// Whatever is not like this is found before it happens. Then the lanes go back: their stacks are restored, and what
// they have written to shared memory; they have changed nothing else. After that they run ahead less far, or not at
// all. Otherwise the accesses are recorded and checked in the order of lock-step.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <unordered_map>
#include <vector>

#include <bankwise/emulator/core/block.hpp>
#include <bankwise/emulator/core/global_accesses.hpp>
#include <bankwise/emulator/core/shared_accesses.hpp>
#include <bankwise/emulator/core/stacks.hpp>

namespace bankwise::emulator {

class RunAhead {
 public:
  RunAhead(RunningBlock& block, SharedAccesses& accesses, GlobalAccesses& global, const Stacks& stacks);

  /// The lanes of `group`, which are at one place, run ahead from it. Returns false if they are where they were.
  /// `steps_left`: for the warp.
  bool operator()(const RunningWarp& warp, std::uint64_t group, std::uint64_t steps_left);
  /// They have: records and checks what they did. Returns the number of steps. What a lane noted after its last access
  /// is in its notes.
  unsigned finish(const RunningWarp& warp, std::uint64_t group);

  // --- Called by the running lane ---

  /// Lane::access, at `pc`. False: the lane must suspend before it.
  bool access(Lane& lane, std::uintptr_t pc) {
    const Answer answer = make(lane, pc);
    if (answer == Answer::diverges) diverge(lane);
    return answer == Answer::made;
  }
  /// The same for an access that is the next one of the first lane, to words that no other lane has to do with. False:
  /// it may still be made. `again`: only a read of a word that has been used since the last barrier.
  template <banks::Operation operation, unsigned bytes, bool again = false>
  bool follow(Lane& lane, const void* address, std::uintptr_t pc) {
    if (*step_ != (key_of(lane, pc) | is_access)) return false;
    Access& next = *access_;
    const std::uintptr_t at = std::uintptr_t(address) - std::uintptr_t(next.begin);
    if (at > next.last || at % bytes != 0) return false;
    const std::uint32_t offset = next.array_offset + std::uint32_t(at);
    if (again ? !block_.shadow.use_again(rank_, offset)
              : !block_.shadow.use_words<bytes>(rank_, offset, touch_of(operation))) {
      return false;
    }
    next.offsets[lane_] = offset;
    ++step_;
    ++access_;
    if constexpr (operation == banks::Operation::store) save(offset, bytes);
    return true;
  }
  /// A load from device memory that can be checked and recorded later: all lanes that run ahead only load. False: it
  /// may be another access.
  bool load(Lane& lane, const LoggedAccess& access);
  /// The lane is about to access memory that is not shared. False: what follows is in order.
  bool access_other(Lane& lane, const LoggedAccess& access, bool is_volatile);
  /// The lane begins what the first one did next. False: this may still be noted.
  bool passes(LaneKey key) {
    if (*step_ != key) return false;
    ++step_;
    return true;
  }
  /// False: the lane notes it itself.
  bool note(Lane& lane, LaneKey key) { return passes(key) || (leads_ ? lead(lane, key) : end_of_way(lane)); }
  /// The lane cannot go on ahead. Never returns.
  [[noreturn]] static void diverge(Lane& lane);

 private:
  enum class Answer { made, stops, diverges };
  /// An access to shared memory that the lanes have made.
  struct Access : WarpAccess {
    Access() {}         // NOLINT(modernize-use-equals-default): that would clear the offsets first
    unsigned step = 0;  ///< its index in steps_
    const ThreadLocalArray* array = nullptr;
    std::uint32_t array_offset = 0;
    const std::byte* begin = nullptr;  ///< of the array
    std::uintptr_t last = 0;           ///< the highest distance from there that is inside
  };
  /// A lane before it ran ahead.
  struct Before {
    Fiber::Saved fiber;
    std::vector<std::uintptr_t> calls;
    PendingAccess access;
    std::uintptr_t pc = 0;
    unsigned part = 0;
  };
  /// Bytes that a lane has overwritten.
  struct Overwritten {
    std::uint32_t offset, bytes;
    std::array<std::byte, 16> content;
  };
  /// How far lanes may run.
  struct Limit {
    unsigned accesses = 256, loads = WarpLog::enough;
  };
  /// How far lanes got from a place, and how often they shall not try.
  struct Habit {
    Limit limit;
    unsigned failures = 0, rest = 0, trials = 0;
  };
  /// Marks a step that is an access: bits of LaneKey that no depth of calls reaches.
  static constexpr LaneKey is_access = LaneKey{1} << 63;
  static constexpr LaneKey nowhere = 0;

  Answer make(Lane& lane, std::uintptr_t pc);
  bool attempt(const RunningWarp& warp, std::uint64_t group);
  void prefetch(const RunningWarp& warp, std::uint64_t lanes) const;
  static void save(Lane& lane, Before& before);
  bool run_one(Lane& lane);
  bool is_in_order(const RunningWarp& warp, std::uint64_t group);
  /// The steps and notes that the running lane has made.
  std::size_t made_steps(const Lane& lane) const {
    return (leads_ ? steps_.size() : std::size_t(step_ - steps_.data())) + lane.noted;
  }
  bool lead(Lane& lane, LaneKey key);
  bool end_of_way(Lane& lane) const;
  void save(std::uint32_t offset, std::uint32_t bytes) {
    Overwritten& saved = overwritten_[overwritten_count_++];
    saved.offset = offset;
    saved.bytes = bytes;
    std::memcpy(saved.content.data(), block_.storage + offset, bytes);
  }
  std::size_t made_by_lane() const { return leads_ ? made_.size() : std::size_t(access_ - made_.data()); }
  /// The number of steps up to the last access.
  std::size_t last_end() const { return made_.empty() ? 0 : made_.back().step + std::size_t{1}; }
  void finish_leading(Lane& lane);
  void go_back(const RunningWarp& warp, std::uint64_t group);

  RunningBlock& block_;
  SharedAccesses& accesses_;
  GlobalAccesses& global_;
  const Stacks& stacks_;
  std::vector<LaneKey> steps_;  ///< places that they passed; after the last access 0 follows
  std::vector<Access> made_;    ///< those of them that are accesses
  std::unique_ptr<Overwritten[]> overwritten_;
  std::size_t overwritten_count_ = 0;
  std::array<Before, banks::max_lanes> before_;
  // The running lane.
  bool leads_ = false;                 ///< it is the first
  const LaneKey* step_ = &nowhere;     ///< the step that it must take next; `nowhere` if it leads, or has taken all
  std::uint32_t rank_ = 0, lane_ = 0;  ///< its number in the block and in the warp
  /// Unless it leads: its next access. Not beside step_, lest they be written as one and read, soon, one by one.
  Access* access_ = nullptr;
  const std::byte* stack_ = nullptr;
  unsigned loads_ = 0;                    ///< from device memory
  bool is_foreign_ = false;               ///< a lane has come to an access to another one's stack
  WaitReason from_ = WaitReason::access;  ///< where they began
  std::uint64_t max_steps_ = 0;
  Limit limit_;
  unsigned loads_at_last_ = 0;                        ///< of the first lane, before its last access
  std::unordered_map<std::uintptr_t, Habit> habits_;  ///< by the program counter where they began
};

}  // namespace bankwise::emulator
