// SPDX-License-Identifier: MIT
//
// Whether an NVIDIA GPU runs slower than it was set to, by NVML: the library of nvidia-smi, which comes with the driver
// and is loaded when it is there. It only answers: nothing here changes a setting of the card.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <bankwise/gpu/device.hpp>

namespace bankwise::gpu {

/// Why clocks are as they are now: a set of NVML's "clocks event reasons" (nvmlClocksEventReason..., one bit each).
using ClockReasons = std::uint64_t;

/// The reasons in `reasons` that mean throttling, "SW power cap, HW slowdown"; empty if none does. A GPU idles between
/// samples, so that is none; nor are clocks set for applications or for the display, and sync boost: they hold for every
/// sample alike.
std::string throttling_in(ClockReasons reasons);

/// Says what keeps a device's clocks down. A base class, so that tests can bring their own.
class Throttle {
 public:
  virtual ~Throttle() = default;
  /// Those of this moment. Error: gpu::Error.
  virtual ClockReasons reasons() = 0;
};

/// The GPU behind a device of either API. Error: Unsupported with the reason: no NVML, not NVIDIA's, or no answer.
std::unique_ptr<Throttle> open_throttle(const DeviceInfo& device);

/// DeviceInfo::throttling of a device: "watched", or "unknown: " and why. Never fails.
std::string throttling_of(const DeviceInfo& device);

}  // namespace bankwise::gpu
