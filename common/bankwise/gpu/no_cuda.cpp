// SPDX-License-Identifier: MIT
//
// Replaces the CUDA backend if the CUDA Toolkit was not found at configure time.
#include <bankwise/gpu/backend.hpp>
#include <bankwise/gpu/error.hpp>

namespace bankwise::gpu {

std::string append_cuda_devices(std::vector<DeviceInfo>&) {
  return "no CUDA: this build is without it; install the CUDA Toolkit (12 or newer) and configure again";
}

std::unique_ptr<Session> open_cuda(const DeviceInfo&) {
  throw Unsupported("this build is without CUDA");
}

}  // namespace bankwise::gpu
