// SPDX-License-Identifier: MIT
#pragma once

#include <span>

#include <bankwise/gpu/device.hpp>

/// The devices that this run of the tests is about: those of the API that BANKWISE_TEST_API names ("cuda" or "opencl"),
/// or all. Never empty: main() ends with 77 first.
std::span<const bankwise::gpu::DeviceInfo> devices_under_test();
