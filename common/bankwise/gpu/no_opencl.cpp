// SPDX-License-Identifier: MIT
//
// Replaces the OpenCL backend if the ICD loader or opencl.hpp was not found at configure time.
#include <bankwise/gpu/backend.hpp>
#include <bankwise/gpu/error.hpp>

namespace bankwise::gpu {

std::string append_opencl_devices(std::vector<DeviceInfo>&) {
  return "no OpenCL: this build is without it; install ocl-icd-opencl-dev and opencl-clhpp-headers and configure again";
}

std::unique_ptr<Session> open_opencl(const DeviceInfo&) {
  throw Unsupported("this build is without OpenCL");
}

}  // namespace bankwise::gpu
