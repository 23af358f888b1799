// SPDX-License-Identifier: MIT
//
// Replaces the backends, and the reader of CUDA's counters, that need what was not found at configure time.
#include <bankwise/gpu/backend.hpp>
#include <bankwise/gpu/error.hpp>

namespace bankwise::gpu {

#ifndef BANKWISE_HAVE_CUDA
std::string append_cuda_devices(std::vector<DeviceInfo>&) {
  return "no CUDA: this build is without it; install the CUDA Toolkit (12 or newer) and configure again";
}

std::unique_ptr<Session> open_cuda(const DeviceInfo&) { throw Unsupported("this build is without CUDA"); }
#endif

#ifndef BANKWISE_HAVE_CUPTI
Counters count_on_cuda(const std::function<void()>&, const std::function<void()>&, const std::function<void()>&) {
  throw Unsupported("this build reads no hardware counters; install CUPTI of CUDA 12.6 or newer and configure again");
}
#endif

#ifndef BANKWISE_HAVE_OPENCL
std::string append_opencl_devices(std::vector<DeviceInfo>&) {
  return "no OpenCL: this build is without it; install ocl-icd-opencl-dev and opencl-clhpp-headers and configure again";
}

std::unique_ptr<Session> open_opencl(const DeviceInfo&) { throw Unsupported("this build is without OpenCL"); }
#endif

}  // namespace bankwise::gpu
