// SPDX-License-Identifier: MIT
#include <bankwise/gpu/throttle.hpp>

#include <dlfcn.h>
#include <fmt/format.h>

#include <bankwise/gpu/error.hpp>

namespace bankwise::gpu {
namespace {

struct Reason {
  ClockReasons bit;  // nvml.h
  const char* name;  // nvidia-smi -q -d PERFORMANCE
};
constexpr Reason throttling[]{
    {0x04, "SW power cap"},
    {0x08, "HW slowdown"},
    {0x20, "SW thermal slowdown"},
    {0x40, "HW thermal slowdown"},
    {0x80, "HW power brake slowdown"},
};

// The part of nvml.h that is needed. The library is not linked, so its functions have no other declaration.
using Handle = struct nvmlDevice_st*;
constexpr int success = 0;

struct Nvml {
  int (*init)() = nullptr;
  const char* (*error)(int) = nullptr;
  int (*by_pci)(const char*, Handle*) = nullptr;
  int (*clock_reasons)(Handle, unsigned long long*) = nullptr;
};

void check(const Nvml& nvml, int code, const char* call) {
  if (code != success) throw Unsupported(fmt::format("{}: {}", call, nvml.error(code)));
}

/// The first of the names that exists in the library.
template <class Function>
void find(void* library, Function& function, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    function = reinterpret_cast<Function>(dlsym(library, name));
    if (function != nullptr) return;
  }
  throw Unsupported(fmt::format("NVML here has no {}", *names.begin()));
}

/// Never unloaded, and never shut down: sessions share it.
Nvml load() {
  void* library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw Unsupported("NVML is missing: libnvidia-ml.so.1, which comes with NVIDIA's driver");
  Nvml nvml;
  find(library, nvml.init, {"nvmlInit_v2"});
  find(library, nvml.error, {"nvmlErrorString"});
  find(library, nvml.by_pci, {"nvmlDeviceGetHandleByPciBusId_v2"});
  find(library, nvml.clock_reasons,
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
    if (code != success) throw Error("nvmlDeviceGetCurrentClocksEventReasons", nvml_.error(code), Place::here());
    return reasons;
  }

 private:
  static const Nvml& shared() {
    static const Nvml nvml = load();
    return nvml;
  }

  const Nvml& nvml_;
  Handle device_ = nullptr;
};

}  // namespace

std::string throttling_in(ClockReasons reasons) {
  std::string names;
  for (const Reason& reason : throttling) {
    if ((reasons & reason.bit) == 0) continue;
    if (!names.empty()) names += ", ";
    names += reason.name;
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
