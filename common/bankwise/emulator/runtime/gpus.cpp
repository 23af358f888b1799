// SPDX-License-Identifier: MIT
#include <bankwise/emulator/runtime/gpus.hpp>

#include <string>

#include <bankwise/banks/architecture.hpp>
#include <bankwise/emulator/runtime/messages.hpp>

namespace bankwise::emulator::runtime {

bool few_multiprocessors = false;

const banks::GpuModel& this_gpu() {
  static const banks::GpuModel gpu = [] {
    const std::string& name = settings().architecture;
    const banks::Architecture* row = banks::find_architecture(name.empty() ? "sm_90" : name);
    if (row == nullptr || !row->models.fact) row = banks::find_architecture("sm_90");
    banks::GpuModel model = row->models.fact->front();
    // As many threads as the emulator holds of a cooperative launch (Launch::cooperative): 16384.
    if (few_multiprocessors) model.multiprocessors = 8;
    return model;
  }();
  return gpu;
}

}  // namespace bankwise::emulator::runtime
