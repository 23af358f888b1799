#include <dlfcn.h>
#include <algorithm>
#include <stdexcept>

#include <bankwise/gpu/device.hpp>
#include <bankwise/gpu/error.hpp>
#include <bankwise/gpu/kernel_remarks.hpp>
#include <bankwise/gpu/session.hpp>
#include "tests/catch_any.hpp"

using bankwise::gpu::Counters;
using bankwise::gpu::without_other_traffic;
using namespace bankwise::gpu;

// How counters are corrected; reading real ones takes a GPU.

TEST_CASE("gpu/counters/other_traffic") {
  // more_bytes with 65536 blocks on an H200; its loads have 5,056,005 conflicts.
  const Counters pipe{.shared_load_passes = 12'677'258, .shared_load_conflicts = 5'966'474, .replays = 2};
  const Counters corrected = without_other_traffic(pipe, {.shared_load_passes = 11'766'789, .replays = 3});
  CHECK(corrected.shared_load_passes == 11'766'789);
  CHECK(corrected.shared_load_conflicts == 5'056'005);
  CHECK(corrected.replays == 5);
}

TEST_CASE("gpu/counters/counted_twice") {
  // more_fft in one block.
  const Counters pipe{.shared_load_passes = 1160, .shared_load_conflicts = 712};
  const Counters corrected = without_other_traffic(pipe, {.shared_load_passes = 1176});
  CHECK(corrected.shared_load_passes == 1160);
  CHECK(corrected.shared_load_conflicts == 712);
}

TEST_CASE("gpu/counters/no_counts") {
  const Counters pipe{.shared_store_passes = 7, .shared_store_conflicts = 3, .dram_read_bytes = 9};
  const Counters corrected = without_other_traffic(pipe, {});
  CHECK(corrected.shared_store_passes == 7);
  CHECK(corrected.shared_store_conflicts == 3);
  CHECK(corrected.dram_read_bytes == 9);
  CHECK_FALSE(without_other_traffic({}, {.shared_store_passes = 7}).shared_store_passes);
}

TEST_CASE("gpu/counters/atomics") {
  const Counters pipe{.shared_store_passes = 20,
                      .shared_store_conflicts = 1,
                      .shared_atomic_passes = 1'686'960,
                      .shared_atomic_conflicts = 244'913};
  const Counters corrected =
      without_other_traffic(pipe, {.shared_store_passes = 10, .shared_atomic_passes = 1'442'047});
  CHECK(corrected.shared_store_conflicts == 0);
  CHECK(corrected.shared_atomic_passes == 1'442'047);
  CHECK(corrected.shared_atomic_conflicts == 0);
}

TEST_CASE("gpu/repeat_section/marked_lines") {
  const std::string source = "a\n  // --- shared-memory section ---\n  b;\n  // --- end of section ---\nc\n";
  CHECK(has_section(source));
  CHECK(repeat_section(source, Api::cuda, 3) ==
        "a\n  for (int turn = 0; turn < 3; ++turn) {\n  b;\n  __syncthreads(); }\nc\n");
  CHECK(repeat_section(source, Api::opencl, 5) ==
        "a\n  for (int turn = 0; turn < 5; ++turn) {\n  b;\n  barrier(CLK_LOCAL_MEM_FENCE); }\nc\n");
}

TEST_CASE("gpu/repeat_section/one_section") {
  const std::string begin(section_begin), end(section_end);
  CHECK_FALSE(has_section("nothing"));
  for (const auto& source : {std::string("nothing"), begin, end, begin + begin + end, begin + end + end}) {
    INFO(source);
    CHECK_THROWS_AS(repeat_section(source, Api::cuda), std::invalid_argument);
  }
}

TEST_CASE("gpu/repeat_section/odd_iterations") { CHECK(block_scope_repeats % 2 == 1); }

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

TEST_CASE("gpu/devices/shown_name") {
  const auto shown = [](std::string name, std::string platform, bool is_gpu = false) {
    DeviceInfo device;
    device.name = std::move(name);
    device.platform = std::move(platform);
    device.is_gpu = is_gpu;
    return shown_name(device);
  };
  const std::string pocl = "Portable Computing Language";
  CHECK(shown("pthread-skylake-avx512-AMD EPYC 9K84 X-Processor", pocl) == "AMD EPYC 9K84 X-Processor (PoCL, CPU)");
  CHECK(shown("cpu-haswell-Intel(R) Xeon(R)", pocl) == "Intel(R) Xeon(R) (PoCL, CPU)");
  CHECK(shown("pthread-cortex-a76", pocl) == "pthread-cortex-a76 (PoCL, CPU)");
  CHECK(shown("Intel(R) Core-X", "Intel(R) OpenCL") == "Intel(R) Core-X (CPU)");
  CHECK(shown("NVIDIA H200", "CUDA", true) == "NVIDIA H200");
  CHECK(shown("gpu-NVIDIA H200", pocl, true) == "gpu-NVIDIA H200");
}

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
