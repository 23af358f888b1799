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
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <bankwise/emulator/core/block.hpp>
#include <bankwise/emulator/core/faults.hpp>
#include <bankwise/emulator/core/global_accesses.hpp>
#include <bankwise/emulator/core/global_memory.hpp>
#include <bankwise/emulator/core/global_races.hpp>
#include <bankwise/emulator/core/meetings.hpp>
#include <bankwise/emulator/core/run_ahead.hpp>
#include <bankwise/emulator/core/shared_accesses.hpp>
#include <bankwise/emulator/core/stacks.hpp>

namespace bankwise::emulator {

class BlockRunner {
 public:
  /// `stacks` are at least as many as a block has lanes. `grid` is null unless the launch is cooperative.
  /// `epoch`: GlobalRaces::new_epoch().
  BlockRunner(const Launch& launch, const BoundKernel& kernel, const Stacks& stacks, GridBarrier* grid, unsigned epoch);

  BlockRunner(const BlockRunner&) = delete;
  ~BlockRunner();

  /// Runs a block to its end; records it if `recorder` is not null. Errors, the last: Diagnosis, LaunchEnded.
  void run(std::uint64_t number, BlockSeries* recorder);

  /// What it found in all its blocks.
  const FaultReports& faults() const { return faults_; }
  /// An address in the kernel; 0 if nothing ran.
  std::uintptr_t in_kernel() const { return block_.in_kernel; }

  /// Runs a lane until it suspends. Returns false if the kernel has thrown.
  [[gnu::always_inline]] bool run_lane(Lane& lane) {
    current = &lane;
    lane.fiber.resume();
    return thrown_ == nullptr || (thrown_ = nullptr, false);
  }

  // --- Called by the running lane ---
  /// Null while no kernel runs on this thread. Without a call, which position-independent code would make for it.
  [[gnu::tls_model("initial-exec")]] static constinit thread_local Lane* current;

  void note(Lane& lane, LaneKey key) {
    if (lane.ahead != nullptr && lane.ahead->note(lane, key)) return;
    if (!lane.note(key)) suspend(lane, WaitReason::full_notes, 0);
  }
  void suspend(Lane& lane, WaitReason wait, std::uintptr_t pc);
  /// What follows happens in the order of lock-step: the lane no longer runs ahead.
  void stay_in_order(Lane& lane) {
    if (lane.ahead != nullptr) suspend(lane, WaitReason::in_order, 0);
  }
  /// Ends the lane, and the launch with a diagnosis.
  [[noreturn]] void fail(Lane& lane, Fault fault, std::uintptr_t pc, std::string_view text);
  /// The same if faults are fatal; otherwise the lane goes on.
  void report_from(Lane& lane, Fault fault, std::uintptr_t pc, std::uintptr_t other_pc,
                   const std::function<std::string()>& text);
  /// A kernel accesses memory that is neither shared nor device memory.
  void note_other_memory(const void* address, bool writes) const {
    if (global_memory.uses != nullptr && is_of_program(address)) global_memory.note_use(0, use_of(writes));
    if (global_memory.left.load(std::memory_order_relaxed)) return;
    if (!stacks_.contains(address) && !is_of_program(address)) global_memory.leave();
  }
  /// Whether an access to memory that is not shared lies in one allocation. If it should, but does not, it is reported.
  bool is_in_allocation(Lane& lane, const void* address, std::size_t bytes, bool writes, std::uintptr_t pc) {
    if (!global_memory.contains(address)) {
      note_other_memory(address, writes);
      return false;
    }
    global_memory.note_use(global_memory.number_at(address), use_of(writes));
    if (writes) global_memory.note_write(address);
    if (global_memory.is_valid(address, bytes)) return true;
    report_invalid(lane, address, bytes, writes, pc);
    return false;
  }
  /// Whether an access to device memory is a usual one: valid, and not noted.
  bool is_usual(const void* address, std::size_t bytes) const {
    return global_memory.uses == nullptr && global_memory.is_valid(address, bytes);
  }
  /// Whether an access to memory that is neither shared nor device memory needs no more: to a variable of the program.
  bool is_usual_variable(const void* address) const {
    return !global_.watches() && global_memory.uses == nullptr && !is_shared(address) && is_of_program(address);
  }
  static std::uint8_t use_of(bool writes) { return writes ? GlobalMemory::writes : GlobalMemory::reads; }
  /// An access of which is_in_allocation() does not know all: `use` has bits of GlobalMemory.
  void note_use(const void* address, std::uint8_t use) const {
    GlobalMemory::raise(global_memory.unwatched);
    if (global_memory.uses == nullptr) return;
    const bool known = global_memory.contains(address);
    if (known || is_of_program(address)) global_memory.note_use(known ? global_memory.number_at(address) : 0, use);
  }
  bool is_shared(const void* address) const {
    const SharedLayout& layout = block_.layout;
    return std::uintptr_t(address) - std::uintptr_t(block_.storage) - layout.begin < layout.bytes - layout.begin;
  }
  /// Whether an object of 16 bytes is in a shared array of structures that promises less than an alignment of 16; where
  /// the array's type is not known, whether its address is no multiple of 16.
  bool lies_in_structures(const void* address) const {
    if (!is_shared(address)) return false;
    const ThreadLocalArray* const array = accesses_.array_of({.offset = offset_of(address), .bytes = 16});
    if (array == nullptr) return false;
    return array->element == 0 ? std::uintptr_t(address) % 16 == 8 : array->element > 16 && array->element % 16 != 0;
  }
  std::uint32_t offset_of(const void* address) const {
    return std::uint32_t(static_cast<const std::byte*>(address) - block_.storage);
  }
  void note_atomic(const Lane& lane) {
    RunningWarp& warp = block_.warps[lane.warp];
    warp.last_atomic = warp.steps;
  }
  /// A lane does what may order its accesses with those of other threads.
  void note_sync(Lane& lane) {
    races_.settle(lane);
    global_.note_sync(lane);
    GlobalMemory::raise(global_memory.unwatched);
    ++block_.syncs;
  }
  GlobalRaces& races() { return races_; }
  GlobalAccesses& global() { return global_; }
  /// A lane is about to access memory that is not shared.
  void log_access(Lane& lane, banks::Operation operation, const void* address, std::size_t bytes, unsigned alignment,
                  std::uintptr_t pc) {
    if (!global_.watches() || stacks_.contains(address)) return;
    global_.log(lane, {std::uintptr_t(address), pc, std::uint32_t(bytes), operation, std::uint8_t(alignment),
                       std::uint16_t(lane.noted)});
  }
  const GlobalPatterns& global_patterns() const { return global_.patterns(); }
  RunningBlock& block() { return block_; }
  AsynchronousCopies& copies() { return accesses_.copies; }
  Meetings& meetings() { return meetings_; }
  /// Parsed texts of inline PTX, by their addresses.
  std::unordered_map<const char*, std::shared_ptr<const void>>& ptx_programs() { return ptx_programs_; }
  /// The lanes of the running step.
  std::uint64_t group() const { return group_; }
  std::uint64_t steps() const { return steps_; }
  const Stacks& stacks() const { return stacks_; }

 private:
  /// Of a lane, in the order of execution.
  using Place = std::pair<LaneKey, std::uint64_t>;
  static constexpr Place last_place{~LaneKey{0}, ~std::uint64_t{0}};
  /// Lanes that run together.
  struct Choice {
    std::uint64_t lanes = 0;
    Place next = last_place;  ///< the earliest place of another lane
  };
  /// The first place that a lane has passed tells which kernel runs.
  void note_kernel(const Lane& lane) {
    if (block_.in_kernel == 0 && lane.noted > 0) block_.in_kernel = pc_of(lane.notes[0]);
  }
  void report_invalid(Lane& lane, const void* address, std::size_t bytes, bool writes, std::uintptr_t pc);
  static void body(void* data);
  bool run_warp(RunningWarp& warp);
  void let_starved_go(RunningWarp& warp);
  Choice choose(const RunningWarp& warp);
  Choice earliest(const RunningWarp& warp);
  Place place_of(LaneKey key);
  unsigned step(RunningWarp& warp, const Choice& choice, unsigned turn);
  unsigned step_some(RunningWarp& warp, const Choice& choice, const Lane& any, unsigned most);
  unsigned step_all(RunningWarp& warp, std::uint64_t group, const Lane& any);
  void access(RunningWarp& warp, std::uint64_t group);
  bool may_run_ahead(const RunningWarp& warp, std::uint64_t group) const;
  void finish_ahead(RunningWarp& warp, std::uint64_t group);
  void run_in_order(Lane& lane);
  void settle_in(Lane& lane);
  void resume(Lane& lane);
  void advance(Lane& lane);

  const BoundKernel& kernel_;
  const Stacks& stacks_;
  RunningBlock block_;
  FaultReports faults_;
  SharedAccesses accesses_;
  RunAhead ahead_;
  Meetings meetings_;
  GlobalRaces races_;
  GlobalAccesses global_;
  std::array<std::pair<LaneKey, Place>, 1024> places_{};  // the latest, by key
  std::unordered_map<const char*, std::shared_ptr<const void>> ptx_programs_;
  std::vector<std::byte> guards_;  ///< values of the guards before
  std::uint64_t group_ = 0, steps_ = 0;
  std::optional<LaneFault> failure_;  ///< the fault of the running lane
  std::exception_ptr thrown_;         ///< what the kernel has thrown
};

/// While it lives, the thread runs no kernel. For what the emulator does on a lane: the linker may give it functions of
/// the standard library, such as a vector's destructor, from a kernel's object file, and these are instrumented.
class OffLane {
 public:
  OffLane() : lane_(std::exchange(BlockRunner::current, nullptr)) {}
  ~OffLane() { BlockRunner::current = lane_; }
  OffLane(const OffLane&) = delete;

 private:
  Lane* const lane_;
};

}  // namespace bankwise::emulator
