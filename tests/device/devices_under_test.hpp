// SPDX-License-Identifier: MIT
#pragma once

#include <span>

#include <bankwise/gpu/device.hpp>

/// The devices that this test run uses: those of the API in BANKWISE_TEST_API ("cuda" or "opencl"), or all. Never
/// empty: main() ends with 77 otherwise.
std::span<const bankwise::gpu::DeviceInfo> devices_under_test();
