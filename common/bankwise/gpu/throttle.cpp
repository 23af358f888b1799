#include <fmt/format.h>

#include <bankwise/gpu/device.hpp>
#include <bankwise/gpu/error.hpp>
#include <bankwise/support/library.hpp>

namespace bankwise::gpu {
namespace {

struct ThrottleReason {
  ClockReasons bit;  // nvml.h
  const char* name;  // nvidia-smi -q -d PERFORMANCE
};
constexpr ThrottleReason throttling[]{
    {0x04, "SW power cap"},
    {0x08, "HW slowdown"},
    {0x20, "SW thermal slowdown"},
    {0x40, "HW thermal slowdown"},
    {0x80, "HW power brake slowdown"},
};

// The part of nvml.h that is needed. The library is not linked, so its functions have no other declaration.
using NvmlDevice = struct nvmlDevice_st*;
constexpr int success = 0;

struct Nvml {
  int (*init)() = nullptr;
  const char* (*error)(int) = nullptr;
  int (*by_pci)(const char*, NvmlDevice*) = nullptr;
  int (*clock_reasons)(NvmlDevice, unsigned long long*) = nullptr;
};

void check(const Nvml& nvml, int code, const char* call) {
  if (code != success) throw Unsupported(fmt::format("{}: {}", call, nvml.error(code)));
}

/// Never shut down: sessions share it.
Nvml load() {
  const support::LoadedLibrary library{"libnvidia-ml.so.1"};
  if (!library) throw Unsupported("NVML is missing: libnvidia-ml.so.1, which comes with NVIDIA's driver");
  const auto find = [&](auto& function, std::initializer_list<const char*> names) {
    if (!library.find(function, names)) throw Unsupported(fmt::format("NVML here has no {}", *names.begin()));
  };
  Nvml nvml;
  find(nvml.init, {"nvmlInit_v2"});
  find(nvml.error, {"nvmlErrorString"});
  find(nvml.by_pci, {"nvmlDeviceGetHandleByPciBusId_v2"});
  find(nvml.clock_reasons,
       {"nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons"});  // before driver 535
  check(nvml, nvml.init(), "nvmlInit_v2");
  return nvml;
}

class NvmlThrottle : public Throttle {
 public:
  explicit NvmlThrottle(const std::string& pci) : nvml_(shared()) {
    check(nvml_, nvml_.by_pci(pci.c_str(), &device_), "nvmlDeviceGetHandleByPciBusId_v2");
    unsigned long long reasons = 0;
    check(nvml_, nvml_.clock_reasons(device_, &reasons), "nvmlDeviceGetCurrentClocksEventReasons");
  }

  ClockReasons reasons() override {
    unsigned long long reasons = 0;
    const int code = nvml_.clock_reasons(device_, &reasons);
    if (code != success) throw Error("nvmlDeviceGetCurrentClocksEventReasons", nvml_.error(code), CallSite::here());
    return reasons;
  }

 private:
  static const Nvml& shared() {
    static const Nvml nvml = load();
    return nvml;
  }

  const Nvml& nvml_;
  NvmlDevice device_ = nullptr;
};

}  // namespace

std::string throttling_in(ClockReasons reasons) {
  std::string names;
  for (const ThrottleReason& reason : throttling) {
    if ((reasons & reason.bit) != 0) names += fmt::format("{}{}", names.empty() ? "" : ", ", reason.name);
  }
  return names;
}

std::unique_ptr<Throttle> open_throttle(const DeviceInfo& device) {
  if (device.pci_bus_id.empty()) throw Unsupported("NVML knows only NVIDIA's GPUs, by their PCI bus id");
  return std::make_unique<NvmlThrottle>(device.pci_bus_id);
}

std::string throttling_of(const DeviceInfo& device) {
  try {
    open_throttle(device);
    return "watched";
  } catch (const std::exception& why) {
    return fmt::format("unknown: {}", why.what());
  }
}

}  // namespace bankwise::gpu
