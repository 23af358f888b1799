// SPDX-License-Identifier: MIT
#include <dlfcn.h>

#include <bankwise/gpu/error.hpp>
#include <bankwise/gpu/throttle.hpp>
#include "tests/catch_any.hpp"

using namespace bankwise::gpu;

namespace {

/// Loads the fake library by its path; the name libnvidia-ml.so.1 refers to it from then on.
template <class Value>
Value& in_fake_nvml(const char* name) {
  static void* const library = dlopen(FAKE_NVML, RTLD_NOW | RTLD_LOCAL);
  REQUIRE(library != nullptr);
  return *static_cast<Value*>(dlsym(library, name));
}

DeviceInfo at(const char* pci_bus_id) {
  DeviceInfo device;
  device.pci_bus_id = pci_bus_id;
  return device;
}

}  // namespace

TEST_CASE("gpu/throttle/reasons") {
  CHECK(throttling_in(0).empty());
  CHECK(throttling_in(0x1).empty());    // idle
  CHECK(throttling_in(0x2).empty());    // clocks set for applications
  CHECK(throttling_in(0x10).empty());   // sync boost
  CHECK(throttling_in(0x100).empty());  // clocks set for the display
  CHECK(throttling_in(0x4) == "SW power cap");
  CHECK(throttling_in(0x8) == "HW slowdown");
  CHECK(throttling_in(0x20) == "SW thermal slowdown");
  CHECK(throttling_in(0x40) == "HW thermal slowdown");
  CHECK(throttling_in(0x80) == "HW power brake slowdown");
  CHECK(throttling_in(0x1FF) ==
        "SW power cap, HW slowdown, SW thermal slowdown, HW thermal slowdown, HW power brake slowdown");
}

TEST_CASE("gpu/throttle/nvml") {
  auto& set = in_fake_nvml<unsigned long long>("fake_clock_reasons");
  CHECK(throttling_of(at("0000:1b:00.0")) == "watched");
  const auto throttle = open_throttle(at("0000:1b:00.0"));
  for (const ClockReasons reasons : {0x0, 0x44, 0x1}) {
    set = reasons;
    CHECK(throttle->reasons() == reasons);
  }
  in_fake_nvml<int>("fake_code") = 15;
  CHECK_THROWS_AS(throttle->reasons(), Error);
  CHECK(throttling_of(at("0000:1b:00.0")) == "unknown: nvmlDeviceGetCurrentClocksEventReasons: GPU is lost");
  in_fake_nvml<int>("fake_code") = 0;
}

TEST_CASE("gpu/throttle/unknown_device") {
  in_fake_nvml<int>("fake_code") = 0;
  CHECK(throttling_of(at("")) == "unknown: NVML knows only NVIDIA's GPUs, by their PCI bus id");
  CHECK(throttling_of(at("0000:1c:00.0")) == "unknown: nvmlDeviceGetHandleByPciBusId_v2: Not Found");
  CHECK_THROWS_AS(open_throttle(at("0000:1c:00.0")), Unsupported);
}
