// SPDX-License-Identifier: MIT
#include <bankwise/gpu/cuda_api.hpp>

#include <fmt/format.h>

namespace bankwise::gpu {

void check_cuda(cudaError_t code, std::string_view call, Place where) {
  if (code == cudaSuccess) return;
  (void)cudaGetLastError();  // clears the error, which the next call would return otherwise
  throw Error(call, fmt::format("{} ({})", cudaGetErrorName(code), cudaGetErrorString(code)), where);
}

void log_cuda(cudaError_t code, std::string_view call) noexcept {
  if (code != cudaSuccess) log_failure(call, cudaGetErrorName(code));
}

}  // namespace bankwise::gpu
