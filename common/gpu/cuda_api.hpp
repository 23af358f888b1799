// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime_api.h>

#include <fmt/format.h>

#include <source_location>
#include <string_view>

#include "bankwise/gpu/error.hpp"

namespace bankwise::gpu {

inline void check_cuda(cudaError_t code, std::string_view call,
                       const std::source_location& where = std::source_location::current()) {
  if (code == cudaSuccess) return;
  (void)cudaGetLastError();  // so that the error does not surface in the next, innocent call
  throw Error(call, fmt::format("{} ({})", cudaGetErrorName(code), cudaGetErrorString(code)), where);
}

/// For destructors.
inline void log_cuda(cudaError_t code, std::string_view call) noexcept {
  if (code != cudaSuccess) log_failure(call, cudaGetErrorName(code));
}

}  // namespace bankwise::gpu

/// Throws gpu::Error unless the call succeeds. A macro because only a macro can quote the call.
#define BANKWISE_CUDA(call) ::bankwise::gpu::check_cuda((call), #call)
