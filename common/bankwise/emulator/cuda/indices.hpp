// SPDX-License-Identifier: MIT
//
// threadIdx, blockIdx, blockDim, gridDim.
#pragma once

#include <bankwise/emulator/cuda/vector_types.hpp>

namespace bankwise::emulator::device {

// One function per number. A lane has each number in a register, so the compiler should call each function once for all
// uses. They are `const` although they read thread-local memory: within a kernel's call, the only code of a lane that
// the compiler sees, their values do not change, because a lane stays on the host thread that started it.
#define BANKWISE_INDEX(name)                   \
  [[gnu::const]] unsigned name##_x() noexcept; \
  [[gnu::const]] unsigned name##_y() noexcept; \
  [[gnu::const]] unsigned name##_z() noexcept;
BANKWISE_INDEX(thread)
BANKWISE_INDEX(block)
BANKWISE_INDEX(block_size)
BANKWISE_INDEX(grid)
#undef BANKWISE_INDEX

/// The rank of the thread in its block.
[[gnu::const]] unsigned rank() noexcept;

}  // namespace bankwise::emulator::device

namespace bankwise::emulator::cuda {

BANKWISE_FUNCTION(uint3, thread_index, (), {device::thread_x(), device::thread_y(), device::thread_z()})
BANKWISE_FUNCTION(uint3, block_index, (), {device::block_x(), device::block_y(), device::block_z()})
BANKWISE_FUNCTION(dim3, block_dimensions, (), {device::block_size_x(), device::block_size_y(), device::block_size_z()})
BANKWISE_FUNCTION(dim3, grid_dimensions, (), {device::grid_x(), device::grid_y(), device::grid_z()})

// Macros, because one variable cannot have a different value in every lane.
#define threadIdx (::bankwise::emulator::cuda::thread_index())
#define blockIdx (::bankwise::emulator::cuda::block_index())
#define blockDim (::bankwise::emulator::cuda::block_dimensions())
#define gridDim (::bankwise::emulator::cuda::grid_dimensions())

/// Always 32, whatever Launch::warp is: CUDA's masks have 32 bits, so its warp intrinsics act on 32 lanes (warp.hpp),
/// and kernels are written for that. Wider warps change the cost of accesses, not the result of a kernel.
inline constexpr int warpSize = 32;

}  // namespace bankwise::emulator::cuda
