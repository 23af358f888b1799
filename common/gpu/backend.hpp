// SPDX-License-Identifier: MIT
//
// What the two backends give to devices.cpp, and what they share. Not for users: see session.hpp.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bankwise/gpu/session.hpp"

namespace bankwise::gpu {

/// Appends its devices (index unset). Returns a sentence with a remedy if there are none, else an empty string.
std::string append_cuda_devices(std::vector<DeviceInfo>& list);
std::string append_opencl_devices(std::vector<DeviceInfo>& list);

std::unique_ptr<Session> open_cuda(const DeviceInfo& device);
std::unique_ptr<Session> open_opencl(const DeviceInfo& device);

}  // namespace bankwise::gpu
