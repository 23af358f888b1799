// Reports through NVML whether an NVIDIA GPU is throttled. NVML is the library of nvidia-smi; it comes with the driver
// and is loaded if it exists. All calls are queries: nothing here changes a setting of the card.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <bankwise/gpu/device.hpp>

namespace bankwise::gpu {

/// Why the clocks are as they are now: a set of NVML's "clocks event reasons" (nvmlClocksEventReason..., one bit each).
using ClockReasons = std::uint64_t;

/// The reasons in `reasons` that mean throttling, "SW power cap, HW slowdown"; empty if none does. These do not count:
/// idle clocks, because a GPU idles between samples; clocks set for applications or for the display, and sync boost,
/// because they affect all samples equally.
std::string throttling_in(ClockReasons reasons);

/// Reports what keeps a device's clocks down. A base class, so tests can replace it.
class Throttle {
 public:
  virtual ~Throttle() = default;
  /// The reasons at this moment. Error: gpu::Error.
  virtual ClockReasons reasons() = 0;
};

/// Opens the GPU of a device of either API. Error: Unsupported with the reason: no NVML, not NVIDIA's, or no answer.
std::unique_ptr<Throttle> open_throttle(const DeviceInfo& device);

/// DeviceInfo::throttling of a device: "watched", or "unknown: " and why. Never fails.
std::string throttling_of(const DeviceInfo& device);

}  // namespace bankwise::gpu
