// SPDX-License-Identifier: MIT
//
// What the words of CUDA (cuda/*.hpp) ask of the emulator: who am I, and what do the lanes around me say. Every function
// here is called by a kernel, on a lane. `caller` is where the kernel's call returns to, by which the lanes of a warp are
// scheduled and diagnoses find their line. Nothing throws: a wrong kernel does not come back from the call.
#pragma once

#include <cstddef>
#include <cstdint>

#include <bankwise/banks/access.hpp>
#include <bankwise/emulator/dim3.hpp>

namespace bankwise::emulator {

/// Whether a kernel runs here, and not the code around it: what follows is for kernels alone.
bool on_lane() noexcept;

/// Who a lane is.
struct LaneIdentity {
  Dim3 thread, block, block_size, grid;  ///< threadIdx, blockIdx, blockDim, gridDim
  unsigned rank = 0;                     ///< of the thread in its block
  unsigned lane = 0, warp_size = 32;
};
/// Not `const`, as its numbers are (cuda/indices.hpp): it reads which lane runs, and that changes around a kernel's call.
[[gnu::pure]] const LaneIdentity& this_lane() noexcept;

/// What lanes say to each other at a barrier or in a warp intrinsic: the mask of the lanes that came, and what each of
/// them brought.
struct Meeting {
  std::uint64_t mask = 0;                 ///< of those who came
  const std::uint64_t* values = nullptr;  ///< of each lane of the warp; valid until the lane's next meeting
};

/// Waits for all lanes of the block. Returns how many of them brought something else than 0.
unsigned meet_block(std::uint64_t value, const void* caller) noexcept;

/// Which warp intrinsic: lanes meet in one of the same kind, with the same mask.
enum class WarpMeeting { sync, shuffle, vote, match, reduce };

/// Waits for all lanes that `mask` names and that have not returned. Fault: wrong_mask.
Meeting meet_warp(WarpMeeting kind, std::uint64_t mask, std::uint64_t value, const void* caller) noexcept;

/// The lanes that the warp executes this with, now.
std::uint64_t active_lanes(const void* caller) noexcept;

/// Before an atomic operation on `address`. Those on shared memory are recorded, and the lanes of a warp come together to
/// perform them, one after the other. `is_loop`: the device has no such instruction, but a loop of several.
/// Returns a number for result_used(), or 0.
std::uint64_t before_atomic(banks::Operation operation, bool is_loop, void* address, std::size_t bytes,
                            const void* caller) noexcept;

/// The result of an `atomic_inc` is used after all, so it was an `atomic`.
void result_used(std::uint64_t number) noexcept;

/// Warp steps that the block has made: a clock.
long long steps(const void* caller) noexcept;

/// __trap(), or a failed assert().
[[noreturn]] void trap(const char* why, const void* caller) noexcept;

}  // namespace bankwise::emulator
