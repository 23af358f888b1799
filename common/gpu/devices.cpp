// SPDX-License-Identifier: MIT
#include <exception>

#include "bankwise/gpu/backend.hpp"

namespace bankwise::gpu {

Devices devices() {
  Devices found;
  for (auto* append : {&append_cuda_devices, &append_opencl_devices}) {
    std::string missing;
    try {
      missing = append(found.list);
    } catch (const std::exception& error) {
      missing = error.what();
    }
    if (!missing.empty()) found.missing.push_back(missing);
  }
  int index = 0;
  for (auto& device : found.list) device.index = index++;
  return found;
}

std::unique_ptr<Session> open(const DeviceInfo& device, const SessionOptions& options) {
  return device.api == Api::cuda ? open_cuda(device, options) : open_opencl(device, options);
}

}  // namespace bankwise::gpu
