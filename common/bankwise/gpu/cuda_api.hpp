// SPDX-License-Identifier: MIT
//
// nvcc reads this header, too. It cannot compile fmt's compile-time checks, so this header does not include fmt.
#pragma once

#include <cuda_runtime_api.h>

#include <string_view>

#include <bankwise/gpu/error.hpp>

namespace bankwise::gpu {

/// Throws gpu::Error unless `code` is success.
void check_cuda(cudaError_t code, std::string_view call, Place where = Place::here());

/// For destructors.
void log_cuda(cudaError_t code, std::string_view call) noexcept;

}  // namespace bankwise::gpu

/// Throws gpu::Error unless the call succeeds. A macro because only a macro can quote the call.
#define BANKWISE_CUDA(call) ::bankwise::gpu::check_cuda((call), #call)
