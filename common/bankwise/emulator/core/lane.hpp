// SPDX-License-Identifier: MIT
//
// What CUDA's functions (cuda/*.hpp) need from the emulator: the identity of the lane, and the values of the other
// lanes. A kernel calls all functions here on a lane. `caller` is the return address in the kernel; the emulator
// schedules the lanes of a warp by it, and diagnoses find their line by it. No function throws: a faulty kernel does
// not return from the call.
#pragma once

#include <cstddef>
#include <cstdint>

#include <bankwise/banks/operation.hpp>
#include <bankwise/emulator/core/dim3.hpp>

namespace bankwise::emulator {

/// Whether the caller is a kernel. All other functions here are for kernels only.
bool on_lane() noexcept;

/// The identity of a lane.
struct LaneIdentity {
  Dim3 thread, block, block_size, grid;  ///< threadIdx, blockIdx, blockDim, gridDim
  unsigned rank = 0;                     ///< of the thread in its block
  unsigned lane = 0, warp_size = 32;
};
/// Not `const`, unlike the functions of cuda/indices.hpp: it depends on the running lane, which changes around a
/// kernel's call.
[[gnu::pure]] const LaneIdentity& this_lane() noexcept;

/// An exchange of values between lanes at a barrier or in a warp intrinsic: the mask of the lanes that take part, and
/// their values.
struct Meeting {
  std::uint64_t mask = 0;                 ///< the lanes that take part
  const std::uint64_t* values = nullptr;  ///< of each lane of the warp; valid until the lane's next meeting
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
/// to perform them, one after the other. `is_loop`: the device has no such instruction and needs a loop. Returns a
/// number for result_used(), or 0.
std::uint64_t before_atomic(banks::Operation operation, bool is_loop, void* address, std::size_t bytes,
                            const void* caller) noexcept;

/// The result of an `atomic_inc` is used, so it was an `atomic`.
void result_used(std::uint64_t number) noexcept;

/// Steps of the block's warps so far: a clock.
long long steps(const void* caller) noexcept;

/// __trap(), or a failed assert().
[[noreturn]] void trap(const char* why, const void* caller) noexcept;

}  // namespace bankwise::emulator
