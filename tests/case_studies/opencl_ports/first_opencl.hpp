// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <stdexcept>

#include <bankwise/gpu/session.hpp>

/// The first OpenCL device there is, which under Oclgrind is Oclgrind. Error: std::runtime_error if there is none.
inline std::unique_ptr<bankwise::gpu::Session> open_first_opencl() {
  for (const auto& device : bankwise::gpu::devices().list) {
    if (device.api == bankwise::gpu::Api::opencl) return bankwise::gpu::open(device);
  }
  throw std::runtime_error("no OpenCL device");
}
