#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <bankwise/gpu/kernel_remarks.hpp>

namespace bankwise::gpu {

constexpr std::string_view to_string(Api api) { return api == Api::cuda ? "cuda" : "opencl"; }

/// A device as one of the APIs lists it. A GPU that both APIs know is two devices. Sizes in bytes, times in seconds.
struct DeviceInfo {
  Api api = Api::opencl;
  int index = 0;      ///< in the list of devices()
  int api_index = 0;  ///< among the devices of its API
  std::string name;
  std::string platform;  ///< OpenCL's platform; "CUDA" otherwise
  std::string driver;
  std::string architecture;  ///< as compilers name it: "sm_90", "gfx942"; empty if the API does not report it
  bool is_gpu = false;
  std::optional<unsigned> warp_width;  ///< empty if the API does not report it
  unsigned compute_units = 1;
  unsigned max_group = 1;            ///< work-items (threads) in a group (block)
  std::uint64_t local_memory = 0;    ///< shared memory per group without an opt-in
  std::uint64_t global_memory = 0;   ///< total, not free
  std::uint64_t max_allocation = 0;  ///< the largest single buffer
  std::uint64_t cache = 0;           ///< the last-level cache, as far as the API knows it; 0: unknown
  double clock_hz = 0;               ///< the highest of the compute units; 0: unknown
  double timer_resolution_s = 0;
  std::string pci_bus_id;  ///< "0000:1b:00.0", of NVIDIA's GPUs; empty for others, and if the API does not report it
  std::string throttling;  ///< "watched" while measuring, or "unknown: " and the reason (see below)
};

/// The name as people know the device: "AMD EPYC 7763 (PoCL, CPU)" for PoCL's "pthread-znver3-AMD EPYC 7763".
std::string shown_name(const DeviceInfo& device);

/// NVIDIA's compute capability, 90 for 9.0; empty for other devices, and if the API does not report it.
std::optional<unsigned> compute_capability(const DeviceInfo& device);

/// The devices of the machine, CUDA devices first. `missing` holds a sentence with a remedy for every API without one.
struct Devices {
  std::vector<DeviceInfo> list;
  std::vector<std::string> missing;
};

/// Asks both APIs. Never fails: an API that is absent or broken adds no device and one sentence.
Devices devices();

// --- Whether an NVIDIA GPU is throttled: by queries of NVML, which its driver has and which is loaded if it exists

/// Why the clocks are as they are now: a set of NVML's "clocks event reasons" (nvmlClocksEventReason..., one bit each).
using ClockReasons = std::uint64_t;

/// The reasons in `reasons` that mean throttling, "SW power cap, HW slowdown"; empty if none does. Idle clocks do not
/// count, because a GPU idles between samples; nor do set clocks and sync boost, which affect all samples.
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
