// SPDX-License-Identifier: MIT
#include <bankwise/emulator/runtime/gpus.hpp>

#include <cstdlib>

#include <bankwise/banks/architecture.hpp>

namespace bankwise::emulator::runtime {

bool few_multiprocessors = false;

const banks::GpuModel& this_gpu() {
  static const banks::GpuModel gpu = [] {
    const char* name = std::getenv("BANKWISE_EMULATE_ARCH");
    const banks::Architecture* row = banks::find_architecture(name != nullptr ? name : "sm_90");
    if (row == nullptr || !row->models.fact) row = banks::find_architecture("sm_90");
    banks::GpuModel model = row->models.fact->front();
    // As many threads as the emulator holds of a cooperative launch (Launch::cooperative): 16384.
    if (few_multiprocessors) model.multiprocessors = 8;
    return model;
  }();
  return gpu;
}

}  // namespace bankwise::emulator::runtime
