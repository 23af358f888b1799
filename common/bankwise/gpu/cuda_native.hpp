// SPDX-License-Identifier: MIT
//
// For libraries that enqueue work in a CUDA session's stream themselves, such as NCCL. Only in a build with CUDA, and
// only for sessions and buffers of CUDA.
#pragma once

#include <functional>

#include <bankwise/gpu/session.hpp>

namespace bankwise::gpu {

/// The buffer's address on its device.
void* cuda_address(const Buffer& buffer);

/// Makes the session's device current and calls `enqueue` with its stream (a cudaStream_t), in which it may enqueue so
/// many commands.
void cuda_enqueue(Session& session, unsigned commands, const std::function<void(void* stream)>& enqueue);

}  // namespace bankwise::gpu
