// SPDX-License-Identifier: MIT
//
// Internal to common/bankwise/emulator: one host thread that runs blocks, one after the other.
//
// A warp always continues with the lanes that are deepest in calls and, of those, with the ones at the earliest place
// in the code (control_flow.hpp), all of them together, so lanes of divergent branches reconverge where their paths
// join (Collange, Stack-less SIMT reconvergence at low cost, 2011). Each lane is a fiber. The instrumentation calls at
// every basic block, at every access and when a function returns. If other lanes cannot observe the difference, a lane
// only notes its position and runs ahead; it suspends before it accesses shared memory and in CUDA's intrinsics. The
// notes determine the order of execution of the warp.
#pragma once

#include <array>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include <bankwise/emulator/core/diagnosis.hpp>
#include <bankwise/emulator/core/fiber.hpp>
#include <bankwise/emulator/core/findings.hpp>
#include <bankwise/emulator/core/global_memory.hpp>
#include <bankwise/emulator/core/lane.hpp>
#include <bankwise/emulator/core/launch.hpp>
#include <bankwise/emulator/core/recorder.hpp>
#include <bankwise/emulator/core/shadow.hpp>
#include <bankwise/emulator/core/shared_memory.hpp>
#include <bankwise/emulator/core/stacks.hpp>

namespace bankwise::emulator {

using banks::for_each_lane;

/// Why a lane is suspended. Lanes with a reason before `meeting` can continue.
enum class Wait : std::uint8_t { ready, access, full_notes, meeting, barrier, round, returned };

/// An access that a lane is about to perform.
struct PendingAccess {
  banks::Operation operation = banks::Operation::load;
  std::uint32_t offset = 0;  ///< in thread-local storage
  std::uint32_t bytes = 0;
  bool as_aligned = true;  ///< the type that is accessed promises an alignment of `bytes`
  bool is_loop = false;    ///< as Pattern::is_loop
  bool is_volatile = false;
  std::uint32_t source = 0;  ///< of a copy: its address in global memory, modulo 128
};

/// A copy from global to shared memory that a lane has started and not yet waited for. The bytes are read when it
/// starts and written when the lane waits.
struct PendingCopy {
  std::uint32_t offset = 0, bytes = 0;
  std::array<std::byte, 16> content{};
  std::uintptr_t pc = 0;
  unsigned group = 0;
};

/// A barrier object in shared memory (mbarrier), or a named barrier of a part of the block.
struct Rounds {
  unsigned expected = 0, pending = 0;  ///< arrivals of each round, and those that the current one lacks
  std::uint64_t done = 0;              ///< rounds so far
  Moment completed = 0;                ///< when the last of them ended
};

/// The values that lanes brought to a meeting, until the last of them has continued.
struct Delivery {
  std::array<std::uint64_t, 64> values{};
  unsigned readers = 0;
};

class BlockRunner;

/// Whether an address lies in the program's file: in its variables and constants.
bool is_of_program(const void* address);

/// The position of a lane as a number. Lanes with equal keys run together.
using Key = std::uint64_t;

inline bool is_basic_block(Key key) {
  return (key >> 48 & 1) != 0;
}
inline std::uintptr_t pc_of(Key key) {
  return key & 0xFFFFFFFFFFFF;
}

struct Lane {
  BlockRunner* runner = nullptr;
  LaneIdentity identity;
  Fiber fiber;
  unsigned warp = 0;
  std::vector<std::uintptr_t> calls;  ///< return addresses of the calls that it is in

  // Where and why it is suspended.
  Wait wait = Wait::ready;
  std::uintptr_t pc = 0;  ///< the return address of the call
  unsigned part = 0;      ///< of that call, if it suspends the lane several times
  PendingAccess access;
  std::uint64_t access_number = 0;  ///< its last access, for Recorder::result_used()
  WarpMeeting meeting = WarpMeeting::sync;
  std::uint64_t mask = 0, value = 0;  ///< what it brings to a meeting or a barrier
  std::uint64_t met = 0;              ///< mask of its last meeting
  Delivery* delivery = nullptr;       ///< values of that meeting, which it may still read
  Moment ordered = 0;                 ///< its last __syncwarp()
  Moment synchronized = 0;            ///< end of the last round of a barrier object that it waited for
  bool waits_for_grid = false;        ///< at a barrier: of the grid
  std::vector<PendingCopy> copies;
  unsigned copy_group = 0;

  // The positions since its previous suspension, and how many of them the warp has processed. Last, because most lanes
  // use few of them.
  static constexpr unsigned max_notes = 128;
  unsigned noted = 0, next = 0;
  std::array<Key, max_notes> notes;
};

/// Blocks of a cooperative launch wait for each other here; each has its host thread.
class GridBarrier {
 public:
  virtual ~GridBarrier() = default;
  /// Returns false if a block has returned, so the others would wait for ever.
  virtual bool arrive_and_wait() = 0;
};

/// A lane that has just returned from a function counts as half a call deep: it waits for the lanes that are still in
/// it, and continues before its caller's other lanes.
inline Key key_of(const Lane& lane, std::uintptr_t pc, bool after_call = false) {
  return (2 * Key{lane.calls.size()} + (after_call ? 2 : 1)) << 48 | pc;
}

/// Thrown if a fault that is not fatal ends the launch; the findings have it.
struct LaunchEnded {};

class BlockRunner {
 public:
  /// `stacks` are at least as many as a block has lanes.
  /// `grid` is null unless the launch is cooperative.
  BlockRunner(const Launch& launch, const BoundKernel& kernel, const Stacks& stacks, GridBarrier* grid = nullptr);

  BlockRunner(const BlockRunner&) = delete;
  ~BlockRunner();

  /// Runs a block to its end; records it if `recorder` is not null. Errors: Diagnosis, LaunchEnded; the runner must not
  /// be used afterwards.
  void run(std::uint64_t block, Recorder* recorder);

  /// What it found in all its blocks.
  const Findings& findings() const { return findings_; }

  // --- Called by the running lane ---
  static thread_local Lane* current;  ///< null while no kernel runs on this thread

  void note(Lane& lane, Key key) {
    lane.notes[lane.noted++] = key;
    if (lane.noted == Lane::max_notes) suspend(lane, Wait::full_notes, 0);
  }
  void suspend(Lane& lane, Wait wait, std::uintptr_t pc);
  /// Ends the lane, and the launch with a diagnosis.
  [[noreturn]] void fail(Lane& lane, Fault fault, std::uintptr_t pc, const std::string& what);
  /// The same if faults are fatal; otherwise the lane goes on. `what()` returns the sentence.
  template <class What>
  void report_from(Lane& lane, Fault fault, std::uintptr_t pc, What what) {
    if (!is_news(fault, pc)) return;
    if (launch_.fatal) fail(lane, fault, pc, what());
    report({fault, pc, {lane.identity.rank}, what()});
  }
  /// A kernel accesses memory that is neither shared nor device memory.
  void note_other_memory(const void* address) const {
    if (global_memory.left.load(std::memory_order_relaxed)) return;
    if (!stacks_.contains(address) && !is_of_program(address)) global_memory.leave();
  }
  bool is_shared(const void* address) const {
    return std::uintptr_t(address) - std::uintptr_t(storage_) - layout_.begin < layout_.bytes - layout_.begin;
  }
  std::uint32_t offset_of(const void* address) const {
    return std::uint32_t(static_cast<const std::byte*>(address) - storage_);
  }
  void note_atomic(const Lane& lane) { warps_[lane.warp].last_atomic = warps_[lane.warp].steps; }
  /// Of barrier objects; `address` identifies them. Only for the running lane.
  Rounds& rounds(std::uintptr_t address) { return rounds_[address]; }
  bool has_rounds(std::uintptr_t address) const { return rounds_.contains(address); }
  void arrive_at(std::uintptr_t address, unsigned arrivals);
  void start_copy(Lane& lane, const PendingCopy& copy);
  /// Ends copies of the groups up to `last`.
  void finish_copies(Lane& lane, unsigned last);
  std::byte* storage() const { return storage_; }
  /// Parsed texts of inline PTX, by their addresses.
  std::unordered_map<const char*, std::shared_ptr<const void>>& ptx_programs() { return ptx_programs_; }
  bool is_cooperative() const { return grid_ != nullptr; }
  std::uint64_t group() const { return group_; }
  unsigned barrier_sum() const { return barrier_sum_; }
  std::uint64_t steps() const { return steps_; }
  const Stacks& stacks() const { return stacks_; }
  Recorder* recorder() { return recorder_; }
  /// An address in the kernel: BoundKernel::entry, or the first place that a lane has passed; 0 before.
  std::uintptr_t in_kernel() const { return in_kernel_; }

 private:
  /// The lanes of a warp. The key of a lane that cannot continue is 0.
  struct Warp {
    unsigned first = 0, count = 0;
    std::array<Key, 64> keys{};
    std::array<std::uint64_t, 64> moved{};  ///< the last step of the warp that each lane took part in
    bool has_meetings = false;
    std::uint64_t steps = 0, last_atomic = 0;  ///< steps of the block; the step of the last atomic
    std::vector<std::unique_ptr<Delivery>> deliveries;
  };
  /// `pc` and `other_pc` are return addresses; `other_pc` is 0 if there is one place.
  struct Failure {
    Fault fault;
    std::uintptr_t pc;
    std::vector<unsigned> lanes;
    std::string what;
    std::uintptr_t other_pc = 0;
    trace::Switch silenced_by = trace::row_of(fault).silenced_by;
  };
  /// A clash of two stores, which is a fault only if they write different values.
  using Doubt = Clash;

  static Key key_at(const Lane& lane) { return key_of(lane, lane.pc + lane.part); }
  static void body(void* data);
  Lane& lane(const Warp& warp, unsigned i) { return lanes_[warp.first + i]; }
  std::vector<unsigned> ranks(const Warp& warp, std::uint64_t group) const;
  std::vector<unsigned> ranks_of(Wait wait) const;

  void begin(std::uint64_t block, Recorder* recorder);
  bool run_warp(Warp& warp);
  void let_starved_go(Warp& warp);
  static std::uint64_t all_lanes(const Warp& warp);
  static std::uint64_t lanes_at(const Warp& warp, Key key);
  std::uint64_t choose(const Warp& warp);
  Key earliest(const Warp& warp);
  unsigned step(Warp& warp, std::uint64_t group);
  unsigned step_all(Warp& warp, std::uint64_t group, const Lane& any);
  void resume(Lane& lane);
  void advance(Lane& lane);
  void arrive(Lane& lane);

  void access(Warp& warp, std::uint64_t group);
  bool is_clean(const Lane& lane);
  std::optional<Doubt> check(const Lane& lane);
  void check_place(const Lane& lane);
  /// `pc` and `access` are the lane's at the time of the clash.
  void report_clash(const Lane& lane, std::uintptr_t pc, const PendingAccess& access, const Clash& clash);
  void check_copies(const Lane& lane);
  unsigned unit_of(const Warp& warp, std::uint64_t group, const Lane& first);
  std::uint64_t record(const Warp& warp, std::uint64_t group, unsigned unit);
  const ThreadLocalArray& array_of(const PendingAccess& access) const;
  bool lies_in(const ThreadLocalArray& array, const PendingAccess& access) const;
  std::uint32_t bytes_of(const ThreadLocalArray& array) const;
  std::string place(const PendingAccess& access) const;

  void settle_meetings(Warp& warp);
  void deliver(Warp& warp, std::uint64_t came);
  void settle_barrier();
  void check_places_of_barrier();
  bool same_place(std::uintptr_t a, std::uintptr_t b);
  void open_barrier();
  void end_meeting(const Lane& waiting);

  /// A fault after which nothing sensible can follow.
  [[noreturn]] void end(const Failure& failure);
  /// Whether a fault must be reported; otherwise it is allowed, or known and counted.
  bool is_news(Fault fault, std::uintptr_t pc, std::uintptr_t other_pc = 0) {
    return findings_.is_news({fault, pc - (pc != 0), other_pc - (other_pc != 0), false});
  }
  /// A fault that is news and that the launch survives. Error: Diagnosis if faults are fatal.
  void report(const Failure& failure);
  std::string text_of(const Failure& failure) const;
  void open_grid_barrier(const Lane& waiting);
  [[noreturn]] void diagnose_round(const Lane& waiting);

  const Launch& launch_;
  const BoundKernel& kernel_;
  std::byte* storage_;
  const SharedLayout& layout_;
  mutable const ThreadLocalArray* last_array_;  ///< the array of the last access
  const Stacks& stacks_;
  std::vector<Lane> lanes_;
  std::vector<Warp> warps_;
  Shadow shadow_;
  std::unordered_map<Key, std::pair<Key, std::uint64_t>> places_;  // of keys, in the order of execution
  std::unordered_map<std::uintptr_t, unsigned> units_;  // of accesses whose type does not guarantee the alignment
  std::unordered_map<std::uintptr_t, Rounds> rounds_;
  std::unordered_map<const char*, std::shared_ptr<const void>> ptx_programs_;
  struct Copier {
    unsigned lane;
    std::uintptr_t pc;
  };
  std::unordered_map<std::uint32_t, Copier> copied_words_;  // of copies whose lane has not waited for them
  GridBarrier* grid_ = nullptr;
  std::vector<std::byte> guards_;  ///< values of the guards before
  Recorder* recorder_ = nullptr;
  std::uintptr_t in_kernel_;
  trace::Pattern pattern_;  ///< passed to the recorder; reused, because of its lists
  Findings findings_;
  std::map<std::pair<std::uintptr_t, std::uintptr_t>, bool> same_places_;  ///< of barriers
  std::uint64_t block_number_ = 0;
  Dim3 block_;
  std::uint32_t level_ = 0;
  std::uint64_t group_ = 0, steps_ = 0;
  unsigned barrier_sum_ = 0, returned_ = 0;
  std::optional<Failure> failure_;
  std::exception_ptr thrown_;
};

}  // namespace bankwise::emulator
