// Internal to common/bankwise/emulator: checks and records the accesses of lanes to shared memory.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>

#include <bankwise/emulator/core/block.hpp>
#include <bankwise/emulator/core/faults.hpp>

namespace bankwise::emulator {

inline TouchKind touch_of(banks::Operation operation) {
  using enum banks::Operation;
  switch (operation) {
    case load:
    case ldmatrix_x1:
    case ldmatrix_x2:
    case ldmatrix_x4: return TouchKind::read;
    case atomic:
    case atomic_inc:
    case atomic_cas: return TouchKind::atomic;
    default: return TouchKind::write;
  }
}

inline TouchKind touch_of(const PendingAccess& access) {
  const TouchKind how = touch_of(access.operation);
  if (!access.is_atomic) return how;
  return how == TouchKind::write ? TouchKind::atomic_store : TouchKind::atomic;
}

/// An access that lanes of a warp make together.
struct WarpAccess {
  std::uintptr_t pc = 0;
  PendingAccess first;                                  ///< the first lane's
  std::array<std::uint32_t, banks::max_lanes> offsets;  ///< by lane
};

/// Asynchronous copies from global to shared memory, as cp.async.
class AsynchronousCopies {
 public:
  AsynchronousCopies(RunningBlock& block, FaultReports& faults) : block_(block), faults_(faults) {}

  void begin_block() { copied_words_.clear(); }
  bool any() const { return !copied_words_.empty(); }
  void start(Lane& lane, const PendingCopy& copy);
  /// Ends copies of the groups up to `last`.
  void finish(Lane& lane, unsigned last);
  /// A race if the lane accesses bytes that are being copied; `place()` describes them.
  template <class Place>
  void check(const Lane& lane, Place place);

 private:
  struct Copier {
    unsigned lane;
    std::uintptr_t pc;
  };
  RunningBlock& block_;
  FaultReports& faults_;
  std::unordered_map<std::uint32_t, Copier> copied_words_;  // by word; their lanes have not waited yet
};

/// The accesses of warps to shared memory.
class SharedAccesses {
 public:
  SharedAccesses(RunningBlock& block, FaultReports& faults)
      : copies(block, faults), block_(block), faults_(faults), last_array_(block.layout.arrays.data()) {}

  void begin_block();
  /// The lanes of `group` are about to access shared memory together. Returns the number of the access for
  /// BlockRecorder::result_used(); 0 if it is not recorded.
  std::uint64_t begin(const RunningWarp& warp, std::uint64_t group);
  /// The lanes have accessed shared memory together, which was no fault.
  void add(const RunningWarp& warp, std::uint64_t group, const WarpAccess& access);

  /// Whether the lanes of `group` access what no other lane has to do with, which is no fault. Then it is checked.
  bool are_calm(const RunningWarp& warp, std::uint64_t group);
  /// Likewise for one lane, which a call of add() for the whole group must follow.
  bool is_calm(const Lane& lane, const ThreadLocalArray& array) const {
    const PendingAccess& access = lane.access;
    return lies_in(array, access) && access.is_aligned_at(access.offset - array.offset) &&
           block_.shadow.use(lane.identity.rank, access.offset, access.bytes, touch_of(access));
  }

  /// The fast test for the usual access of one lane. Returns false if check() has to look.
  bool is_clean(const Lane& lane) {
    const PendingAccess& access = lane.access;
    return !copies.any() && lies_in(*last_array_, access) &&
           access.is_aligned_at(access.offset - last_array_->offset) &&
           block_.shadow.touch_cleanly(std::uint16_t(lane.identity.rank), std::uint16_t(lane.warp),
                                       std::uint32_t(lane.pc), access.offset, access.bytes, touch_of(access));
  }
  /// The lane is about to perform an atomic operation, perhaps on a lock or a flag: what its warp did before the lane's
  /// last fence is ordered with what lanes do after a later operation there.
  void pass_flag(Lane& lane);
  /// A clash if the access is a fault should it change the content: two lanes may write the same value.
  std::optional<Clash> check(const Lane& lane);
  /// `pc` and `access` are the lane's at the time of the clash.
  void report_clash(const Lane& lane, std::uintptr_t pc, const PendingAccess& access, const Clash& clash);

  std::uint32_t bytes_of(const ThreadLocalArray& array) const {
    return array.dynamic ? std::uint32_t(block_.launch.dynamic_shared) : array.bytes;
  }
  /// The array that contains the whole access; null if there is none.
  const ThreadLocalArray* array_of(const PendingAccess& access) const;
  /// Whether the whole access lies in an array.
  bool lies_in(const ThreadLocalArray& array, const PendingAccess& access) const {
    return access.offset >= array.offset && access.offset + access.bytes <= array.offset + bytes_of(array);
  }

  AsynchronousCopies copies;

 private:
  const ThreadLocalArray& array_near(const PendingAccess& access);
  std::string place(const PendingAccess& access);
  void check_place(const Lane& lane);
  unsigned unit(std::uint64_t group, const WarpAccess& access);
  void remember(const RunningWarp& warp, std::uint64_t group, const WarpAccess& access);
  std::uint64_t record(const RunningWarp& warp, std::uint64_t group, const WarpAccess& access);

  RunningBlock& block_;
  FaultReports& faults_;
  const ThreadLocalArray* last_array_;                  ///< the array of the last access
  std::unordered_map<std::uintptr_t, unsigned> units_;  // where a type guarantees no alignment; by instruction
  trace::Pattern pattern_;                              ///< passed to the recorder; reused, because of its lists
};

}  // namespace bankwise::emulator
