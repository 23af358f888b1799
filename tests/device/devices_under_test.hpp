#pragma once

#include <span>

#include <bankwise/gpu/session.hpp>
#include "tests/catch_any.hpp"

/// The devices that this test run uses: those of the API in BANKWISE_TEST_API ("cuda" or "opencl"), or all. Never
/// empty: main() ends with 77 otherwise.
std::span<const bankwise::gpu::DeviceInfo> devices_under_test();

/// Calls the test with a new session of each of these devices.
template <typename Test>
void on_each_device(Test test) {
  for (const auto& device : devices_under_test()) {
    INFO(to_string(device.api) << " " << device.name);
    const auto session = bankwise::gpu::open(device);
    test(*session);
  }
}
