// SPDX-License-Identifier: MIT
//
// Also read by nvcc, which cannot digest fmt's compile-time checks: hence no fmt here.
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
