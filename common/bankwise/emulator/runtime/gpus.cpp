// SPDX-License-Identifier: MIT
#include <bankwise/emulator/runtime/gpus.hpp>

#include <algorithm>
#include <cstdlib>

namespace bankwise::emulator::runtime {
namespace {

// clang-format off
constexpr Gpu table[]{
  // architecture, name, capability, multiprocessors, kHz, memory kHz, bus, GiB, L2 KiB, shared KiB, threads, blocks
  {"sm_50", "NVIDIA GeForce GTX 750 Ti", 5, 0, 5, 1084500, 2700000, 128, 2, 2048, 64, 48, 2048, 32},
  {"sm_52", "NVIDIA GeForce GTX 980", 5, 2, 16, 1215500, 3505000, 256, 4, 2048, 96, 48, 2048, 32},
  {"sm_60", "Tesla P100-SXM2-16GB", 6, 0, 56, 1480500, 715000, 4096, 16, 4096, 64, 48, 2048, 32},
  {"sm_61", "NVIDIA GeForce GTX 1080", 6, 1, 20, 1733500, 5005000, 256, 8, 2048, 96, 48, 2048, 32},
  {"sm_70", "Tesla V100-SXM2-16GB", 7, 0, 80, 1530000, 877000, 4096, 16, 6144, 96, 96, 2048, 32},
  {"sm_75", "Tesla T4", 7, 5, 40, 1590000, 5001000, 256, 16, 4096, 64, 64, 1024, 16},
  {"sm_80", "NVIDIA A100-SXM4-40GB", 8, 0, 108, 1410000, 1215000, 5120, 40, 40960, 164, 163, 2048, 32},
  {"sm_86", "NVIDIA GeForce RTX 3090", 8, 6, 82, 1695000, 9751000, 384, 24, 6144, 100, 99, 1536, 16},
  {"sm_89", "NVIDIA GeForce RTX 4090", 8, 9, 128, 2520000, 10501000, 384, 24, 73728, 100, 99, 1536, 24},
  {"sm_90", "NVIDIA H200", 9, 0, 132, 1980000, 3201000, 6144, 141, 51200, 228, 227, 2048, 32},
  {"sm_100", "NVIDIA B200", 10, 0, 148, 1965000, 3996000, 8192, 180, 129024, 228, 227, 2048, 32},
  {"sm_120", "NVIDIA GeForce RTX 5090", 12, 0, 170, 2407000, 14001000, 512, 32, 98304, 100, 99, 1536, 24},
};
// clang-format on

}  // namespace

bool few_multiprocessors = false;

std::span<const Gpu> gpus() {
  return table;
}

const Gpu& gpu_of(std::string_view architecture) {
  const auto named = [&](std::string_view name) {
    return std::find_if(std::begin(table), std::end(table), [&](const Gpu& gpu) { return gpu.architecture == name; });
  };
  const auto* const found = named(architecture);
  return found != std::end(table) ? *found : *named("sm_90");
}

const Gpu& this_gpu() {
  static const Gpu gpu = [] {
    const char* name = std::getenv("BANKWISE_EMULATE_ARCH");
    Gpu found = gpu_of(name != nullptr ? name : "");
    // As many threads as the emulator holds of a cooperative launch (Launch::cooperative): 16384.
    if (few_multiprocessors) found.multiprocessors = 8;
    return found;
  }();
  return gpu;
}

}  // namespace bankwise::emulator::runtime
