// Internal to common/bankwise/emulator: the block that a host thread runs; the parts of BlockRunner share it.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include <bankwise/emulator/core/fiber.hpp>
#include <bankwise/emulator/core/lane.hpp>
#include <bankwise/emulator/core/launch.hpp>
#include <bankwise/emulator/core/program_symbols.hpp>
#include <bankwise/emulator/core/recorder.hpp>
#include <bankwise/emulator/core/shadow.hpp>

namespace bankwise::emulator {

using banks::for_each_lane;

/// Why a lane is suspended. Lanes with a reason before `meeting` can continue.
enum class WaitReason : std::uint8_t {
  ready,
  released,  ///< it has waited for other lanes, or for its block to begin
  access,
  full_notes,
  meeting,
  barrier,
  round,
  returned,
  in_order,  ///< while it runs ahead of its warp (run_ahead.hpp): what comes next must happen in the order of lock-step
  diverged   ///< likewise: it has to go back
};

/// An access that a lane is about to perform.
struct PendingAccess {
  banks::Operation operation = banks::Operation::load;
  std::uint32_t offset = 0;  ///< in thread-local storage
  std::uint32_t bytes = 0;
  std::uint8_t alignment = 0;  ///< that the accessed type promises: 8 of 16 bytes; 0: `bytes`; 1: it is not known
  bool is_loop = false;        ///< as Pattern::is_loop
  bool is_volatile = false;
  bool is_plain = false;     ///< a load or store in the kernel's code, of at most 16 bytes, and no more
  std::uint32_t source = 0;  ///< a copy's address in global memory, modulo 2^32; banks::no_source: none
  bool is_atomic = false;    ///< also of a load or a store

  /// Whether the type allows it so many bytes behind an array's begin.
  bool is_aligned_at(std::uint32_t distance) const {
    return (distance & ((alignment == 0 ? bytes : alignment) - 1U)) == 0;
  }
};

/// A copy from global to shared memory that a lane has started and not yet waited for. The bytes are read when it
/// starts and written when the lane waits.
struct PendingCopy {
  std::uint32_t offset = 0, bytes = 0;
  std::array<std::byte, 16> content{};
  std::uintptr_t pc = 0;
  unsigned group = 0;
};

/// A store to device memory that a lane is about to perform, and what is there before.
struct PendingStore {
  std::uintptr_t address = 0;
  std::uint32_t bytes = 0;  ///< 0: none
  std::uintptr_t pc = 0;
  std::uint64_t touch = 0;  ///< its GlobalTouch, as bits
  std::array<std::byte, 16> before{};
  std::vector<std::byte> long_before;  ///< of more than 16 bytes
  std::atomic_flag* lock = nullptr;    ///< which the lane holds
  bool waits = false;                  ///< for the lock; a lane that holds it may be in an endless loop
};

/// An access to global memory that a lane has made, or is about to make (global_accesses.hpp).
struct LoggedAccess {
  std::uintptr_t address = 0, pc = 0;
  std::uint32_t bytes = 0;
  banks::Operation operation = banks::Operation::load;
  std::uint8_t alignment = 0;  ///< as PendingAccess::alignment
  std::uint16_t noted = 0;     ///< the lane's notes before it; or its steps, while it runs ahead
};

/// An access to device memory that lanes of a warp make together (global_accesses.hpp).
struct JointAccess {
  JointAccess() {}  // NOLINT(modernize-use-equals-default): that would clear the offsets
  std::uintptr_t pc = 0;
  std::uintptr_t begin = 0;  ///< of the allocation: a multiple of 128
  std::uintptr_t last = 0;   ///< the highest offset from there of an access inside it
  /// Lanes that have logged it, until their warp makes it; those in `unchecked`, whose load is still to be checked for
  /// races, may not be in `lanes`.
  std::uint64_t lanes = 0, unchecked = 0;
  std::uint64_t open() const { return lanes | unchecked; }
  std::uint64_t touch = 0;  ///< its GlobalTouch, as bits
  std::uint16_t noted = 0;  ///< as LoggedAccess::noted
  std::uint8_t bytes = 0;
  banks::Operation operation = banks::Operation::load;
  std::uint8_t alignment = 0;
  LoggedAccess of_lane(unsigned lane) const { return {begin + offsets[lane], pc, bytes, operation, alignment, noted}; }
  std::array<std::uint32_t, banks::max_lanes> offsets;
};

/// The values that lanes brought to a meeting, until the last of them has continued.
struct Delivery {
  std::array<std::uint64_t, 64> values{};
  unsigned readers = 0;
};

class BlockRunner;
class RunAhead;

/// The position of a lane as a number. Lanes with equal keys run together.
using LaneKey = std::uint64_t;

inline bool is_basic_block(LaneKey key) { return (key >> 48 & 1) != 0; }
inline std::uintptr_t pc_of(LaneKey key) { return key & 0xFFFFFFFFFFFF; }

/// What every switch to the lane and every access needs comes first, in two lines of the cache.
struct alignas(64) Lane {
  static constexpr unsigned max_notes = 128;
  Lane() {}  // NOLINT(modernize-use-equals-default): that would clear the notes first
  BlockRunner* runner = nullptr;
  RunAhead* ahead = nullptr;  ///< not null while it runs ahead of its warp
  Fiber fiber;
  LaneKey depth = 0;  ///< of calls, as in key_of()
  void set_depth() { depth = (2 * LaneKey{calls.size()} + 1) << 48; }
  unsigned noted = 0, next = 0;     ///< of the notes below: made, and processed by its warp
  unsigned note_limit = max_notes;  ///< after so many it suspends
  unsigned warp = 0;
  // If it follows another lane (global_accesses.hpp): the joint access that it makes next, its bit and number there,
  // and whether its loads are checked for races later.
  JointAccess* joint = nullptr;
  std::uint64_t bit = 0;
  unsigned number = 0;
  bool checks_later = false;

  // Where and why it is suspended.
  WaitReason wait = WaitReason::ready;
  unsigned part = 0;                  ///< the part of that call, if it suspends the lane several times
  std::uintptr_t pc = 0;              ///< the return address of the call
  std::vector<std::uintptr_t> calls;  ///< return addresses of the calls that it is in
  PendingAccess access;
  std::vector<LoggedAccess> global;
  std::size_t next_global = 0;  ///< of these, that its warp has not made yet
  unsigned joint_run = 0;       ///< WarpLog::run when it was resumed last
  LaneIdentity identity;
  std::uint64_t access_number = 0;  ///< its last access, for BlockRecorder::result_used()
  WarpMeeting meeting = WarpMeeting::sync;
  std::uint64_t mask = 0, value = 0;  ///< what it brings to a meeting or a barrier
  std::uint64_t met = 0;              ///< mask of its last meeting
  Delivery* delivery = nullptr;       ///< values of that meeting, which it may still read
  Moment ordered = 0;                 ///< its last __syncwarp()
  Moment synchronized = 0;            ///< end of the last round of a barrier object that it waited for
  Moment fenced = 0;                  ///< its last fence
  Moments acquired;                   ///< by its atomic operations on flags
  bool waits_for_grid = false;        ///< at a barrier: of the grid
  std::vector<PendingCopy> copies;
  unsigned copy_group = 0;
  PendingStore store;

  // The positions since its previous suspension. Last, because most lanes use few.
  std::array<LaneKey, max_notes> notes;
  /// False: it must suspend.
  bool note(LaneKey key) {
    notes[noted++] = key;
    return noted < note_limit;
  }
};

/// A lane that has just returned from a function counts as half a call deep: it waits for the lanes that are still in
/// it, and continues before its caller's other lanes.
inline LaneKey key_of(const Lane& lane, std::uintptr_t pc, bool after_call = false) {
  return lane.depth + (LaneKey{after_call} << 48) + pc;
}
/// The place where a lane is suspended.
inline LaneKey key_at(const Lane& lane) { return key_of(lane, lane.pc + lane.part); }

/// The key of a lane that cannot continue is 0.
struct RunningWarp {
  unsigned first = 0, count = 0;  ///< lanes in the block
  std::array<LaneKey, 64> keys{};
  std::array<std::uint64_t, 64> moved{};     ///< the last step of the warp that each lane took part in
  bool has_news = false;                     ///< a lane has come to a meeting, or has returned: others may go on
  std::uint64_t steps = 0, last_atomic = 0;  ///< steps of the block; the step of the last atomic
  std::vector<std::unique_ptr<Delivery>> deliveries;
};

/// The position of a number in a grid or a block.
Dim3 position(std::uint64_t linear, Dim3 size);

struct RunningBlock {
  RunningBlock(const Launch& launch, const void* entry);

  void begin(std::uint64_t number, BlockSeries* recorder);

  Lane& lane(const RunningWarp& warp, unsigned i) { return lanes[warp.first + i]; }
  std::vector<unsigned> ranks(const RunningWarp& warp, std::uint64_t group) const;
  std::vector<unsigned> ranks_that(WaitReason wait) const;
  static Toucher toucher(const Lane& lane, std::uintptr_t pc) {
    return {.lane = std::uint16_t(lane.identity.rank),
            .warp = std::uint16_t(lane.warp),
            .ordered = lane.ordered,
            .pc = std::uint32_t(pc),
            .synchronized = lane.synchronized,
            .acquired = lane.acquired};
  }
  /// The lane can run again.
  void release(Lane& lane) {
    lane.wait = WaitReason::released;
    warps[lane.warp].keys[lane.identity.lane] = key_at(lane);
  }

  const Launch& launch;
  std::byte* const storage;  ///< thread-local
  const SharedLayout& layout;
  std::vector<Lane> lanes;
  std::vector<RunningWarp> warps;
  Shadow shadow;
  BlockSeries* recorder = nullptr;  ///< null: the block is not recorded
  /// By offset in shared memory: what an atomic operation there acquires.
  std::unordered_map<std::uint32_t, Moments> flags;
  std::uint64_t number = 0;
  Dim3 index;               ///< blockIdx
  std::uint32_t level = 0;  ///< barriers so far
  unsigned returned = 0;    ///< lanes
  unsigned syncs = 0;       ///< fences, volatile accesses, and atomics on memory that is not shared, so far
  /// An address in the kernel: BoundKernel::entry, or the first place that a lane has passed; 0 before.
  std::uintptr_t in_kernel;
};

}  // namespace bankwise::emulator
