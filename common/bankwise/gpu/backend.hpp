// SPDX-License-Identifier: MIT
//
// Interface between session.cpp and the two backends. Not for users: see session.hpp.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <bankwise/gpu/session.hpp>

namespace bankwise::gpu {

/// Appends the devices of this API (index unset). Returns one sentence with a remedy if there are none, otherwise an
/// empty string.
std::string append_cuda_devices(std::vector<DeviceInfo>& list);
std::string append_opencl_devices(std::vector<DeviceInfo>& list);

std::unique_ptr<Session> open_cuda(const DeviceInfo& device);
std::unique_ptr<Session> open_opencl(const DeviceInfo& device);

/// Error: Unsupported if the device is NVIDIA's and has a lower compute capability than this (90: 9.0).
void require_capability(const DeviceInfo& device, std::string_view kernel, unsigned least);

/// The host handle of a kernel's __global__ function in one of its forms. Error: Unsupported if this build lacks it.
const void* cuda_handle(const KernelImage& image, Form form);

}  // namespace bankwise::gpu
