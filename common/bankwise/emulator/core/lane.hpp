// What CUDA's functions (cuda/*.hpp) need from the emulator: the identity of the lane, and the values of the other
// lanes. A kernel calls all functions here on a lane. `caller` is the return address in the kernel; the emulator
// schedules the lanes of a warp by it, and diagnoses find their line by it. A faulty kernel returns from no call.
#pragma once

#include <cstddef>
#include <cstdint>

#include <bankwise/banks/operation.hpp>
#include <bankwise/emulator/core/kernel_code.hpp>

namespace bankwise::emulator {

/// Whether the caller is a kernel. All other functions here are for kernels only.
bool on_lane() noexcept;

/// The identity of a lane.
struct LaneIdentity {
  Dim3 thread, block, block_size, grid;  ///< threadIdx, blockIdx, blockDim, gridDim
  unsigned rank = 0;                     ///< the thread's rank in its block
  unsigned lane = 0, warp_size = 32;
};
/// Not `const`, unlike the functions of cuda/warp.hpp: it depends on the running lane, which changes.
[[gnu::pure]] const LaneIdentity& this_lane() noexcept;

/// An exchange of values between lanes at a barrier or in a warp intrinsic: who takes part, and their values.
struct Meeting {
  std::uint64_t mask = 0;                 ///< the lanes that take part
  const std::uint64_t* values = nullptr;  ///< one for each lane of the warp; valid until the lane's next meeting
};

/// Waits for all lanes of the block. Returns how many of them brought a value other than 0.
unsigned meet_block(std::uint64_t value, const void* caller) noexcept;

/// The kind of warp intrinsic: lanes meet in one of the same kind, with the same mask.
enum class WarpMeeting { sync, shuffle, vote, match, reduce, matrix };

/// Waits for all lanes in `mask` that have not returned. Fault: wrong_mask.
Meeting meet_warp(WarpMeeting kind, std::uint64_t mask, std::uint64_t value, const void* caller) noexcept;

/// The lanes that the warp currently executes this call with.
std::uint64_t active_lanes(const void* caller) noexcept;

/// Called before an atomic operation on `address`. Atomics on shared memory are recorded, and the lanes of a warp meet
/// to perform them, one after the other. `is_loop`: the device has no such instruction and needs a loop. `releases`: it
/// is a fence, too. Returns a number for result_used(), or 0.
std::uint64_t before_atomic(banks::Operation operation, bool is_loop, void* address, std::size_t bytes,
                            const void* caller, bool releases = false) noexcept;

/// Replaces the number at an address by changed(number), atomically. Returns the old one.
template <class T, class Change>
T change_atomically(T* address, Change changed) {
  T old, now;
  __atomic_load(address, &old, __ATOMIC_RELAXED);
  do now = changed(old);
  while (!__atomic_compare_exchange(address, &old, &now, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
  return old;
}

/// The result of an `atomic_inc` is used, so it was an `atomic`.
void result_used(std::uint64_t number) noexcept;

/// Steps of the block's warps so far: a clock.
long long steps(const void* caller) noexcept;

/// __trap(), or a failed assert().
[[noreturn]] void trap(const char* why, const void* caller) noexcept;

/// If the caller is a kernel, which may run ahead of its warp (run_ahead.hpp): for what cannot be undone, and what the
/// other lanes may see or change.
void stay_in_order() noexcept;

/// Whether lanes may run ahead. Only a program in which functions that cannot be undone, such as `free` and `printf`,
/// call stay_in_order() sets it, before its first launch: otherwise a lane that goes back would call them twice.
inline bool lanes_may_run_ahead = false;

/// A fence: it may order the lane's accesses with those of other threads.
void fence() noexcept;

// --- Accesses that the instrumentation does not see ---

/// Several accesses or meetings of one call have different numbers, from 0, in the order in which the call makes them.
/// Lanes that are in the same part of the same call run together. Ends with part 0.
class Parts {
 public:
  Parts() noexcept;
  ~Parts();
  Parts(const Parts&) = delete;
  void next() noexcept;
  void set(int part) noexcept;
};

/// Lanes that reach this call together continue together; what follows is ordered with the accesses of other lanes.
void meet_at_place(const void* caller) noexcept;

/// Before a load, a store, or a matrix operation: records it if the address is in shared memory.
void before_access(banks::Operation operation, const void* address, std::size_t bytes, const void* caller,
                   bool is_volatile = false) noexcept;

/// Before a store of code that is not instrumented; also on the host.
void before_store(const void* address, std::size_t bytes, const void* caller) noexcept;

/// A 32-bit address of PTX's state space .shared, and back.
std::uint32_t to_shared_address(const void* address) noexcept;
std::byte* from_shared_address(std::uint32_t address) noexcept;
bool is_shared(const void* address) noexcept;

// --- Asynchronous copies, as cp.async ---

/// 4, 8 or 16 bytes, of which `given` are copied and the rest become 0, through the L1 cache or past it.
void start_copy(void* to, const void* from, unsigned bytes, unsigned given, bool past_l1, const void* caller) noexcept;
/// Ends a group of copies.
void commit_copies() noexcept;
/// Waits for all groups except the latest `open`.
void wait_for_copies(unsigned open, const void* caller) noexcept;
/// Waits for all copies, in groups or not.
void wait_for_all_copies(const void* caller) noexcept;

// --- Barrier objects, as mbarrier. The object's address identifies it; its bytes are not used ---

void init_rounds(const void* object, unsigned expected, const void* caller) noexcept;
void end_rounds(const void* object) noexcept;
/// Returns the number of the round in which it arrives. All later rounds need `drops` fewer arrivals.
std::uint64_t arrive(const void* object, unsigned arrivals, unsigned drops, const void* caller) noexcept;
bool is_round_done(const void* object, std::uint64_t round, const void* caller) noexcept;
void wait_for_round(const void* object, std::uint64_t round, const void* caller) noexcept;
/// The number of rounds so far.
std::uint64_t rounds_done(const void* object, const void* caller) noexcept;
/// Waits for so many lanes of the block at the barrier of that number.
void meet_named(unsigned number, unsigned lanes, bool only_arrives, const void* caller) noexcept;

// --- The grid ---

bool is_cooperative() noexcept;
void meet_grid(const void* caller) noexcept;

/// All lanes of the warp (of the caller's half of 64 lanes) meet with an operand each; `work` runs once, with the
/// operands by lane, null for lanes that have returned. It may write to all of them.
void together(void* operand, void (*work)(void* const operands[32], const void* data), const void* data,
              const void* caller) noexcept;

}  // namespace bankwise::emulator
