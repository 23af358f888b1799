// SPDX-License-Identifier: MIT
//
// threadIdx, blockIdx, blockDim, gridDim.
#pragma once

#include <bankwise/emulator/cuda/vector_types.hpp>

namespace bankwise::emulator::words {

// One function per number. A lane has each number in a register, so the compiler should call each function once for all
// uses. They are `const` although they read thread-local memory: within a kernel's call, the only code of a lane that
// the compiler sees, their values do not change, because a lane stays on the host thread that started it.
[[gnu::const]] unsigned thread_x() noexcept;
[[gnu::const]] unsigned thread_y() noexcept;
[[gnu::const]] unsigned thread_z() noexcept;
[[gnu::const]] unsigned block_x() noexcept;
[[gnu::const]] unsigned block_y() noexcept;
[[gnu::const]] unsigned block_z() noexcept;
[[gnu::const]] unsigned block_size_x() noexcept;
[[gnu::const]] unsigned block_size_y() noexcept;
[[gnu::const]] unsigned block_size_z() noexcept;
[[gnu::const]] unsigned grid_x() noexcept;
[[gnu::const]] unsigned grid_y() noexcept;
[[gnu::const]] unsigned grid_z() noexcept;

/// Of the thread in its block.
[[gnu::const]] unsigned rank() noexcept;

}  // namespace bankwise::emulator::words

namespace bankwise::cuda {

BANKWISE_WORD uint3 thread_index() {
  return {emulator::words::thread_x(), emulator::words::thread_y(), emulator::words::thread_z()};
}
BANKWISE_WORD uint3 block_index() {
  return {emulator::words::block_x(), emulator::words::block_y(), emulator::words::block_z()};
}
BANKWISE_WORD dim3 block_dimensions() {
  return {emulator::words::block_size_x(), emulator::words::block_size_y(), emulator::words::block_size_z()};
}
BANKWISE_WORD dim3 grid_dimensions() {
  return {emulator::words::grid_x(), emulator::words::grid_y(), emulator::words::grid_z()};
}

// Macros, because one variable cannot have a different value in every lane.
#define threadIdx (::bankwise::cuda::thread_index())
#define blockIdx (::bankwise::cuda::block_index())
#define blockDim (::bankwise::cuda::block_dimensions())
#define gridDim (::bankwise::cuda::grid_dimensions())

/// Always 32, whatever Launch::warp is: CUDA's masks have 32 bits, so its warp intrinsics act on 32 lanes (warp.hpp),
/// and kernels are written for that. Wider warps change the cost of accesses, not the result of a kernel.
inline constexpr int warpSize = 32;

}  // namespace bankwise::cuda

using namespace bankwise::cuda;
