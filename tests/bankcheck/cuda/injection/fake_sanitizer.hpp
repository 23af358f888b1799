// A stand-in for NVIDIA's Sanitizer library, the driver and the GPU: has the entry points that the injection library
// looks for, "device memory" on the heap, and functions that play a CUDA program. Environment: FAKE_SANITIZER_LOG, a
// file that gets the name of each called entry point, one on a line; FAKE_SANITIZER_FAIL, the name of one that fails.
#pragma once

#include <sanitizer.h>

#include <cstdint>
#include <string>
#include <vector>

#include "bankcheck/cuda/injection/device_table.hpp"

namespace fake {

struct Launch {
  CUcontext context = nullptr;
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  const char* name = "kernel";
  Sanitizer_StreamHandle stream = nullptr;
  std::uint32_t grid[3] = {1, 1, 1}, block[3] = {32, 1, 1};
  std::uint32_t dynamic_bytes = 0;
  bool end = true;  ///< false: the launch fails, and its end is not reported
};

/// A handle of any type that is only compared.
template <typename Handle>
Handle handle(std::uintptr_t number) {
  return reinterpret_cast<Handle>(number);
}

void load_module(CUcontext context, CUmodule module, const std::string& cubin);
void unload_module(CUcontext context, CUmodule module);
void destroy_context(CUcontext context);

/// Reports the launch, and returns what the patch gets: nullptr if nothing was set.
bankwise::cuda::LaunchSlot* launch(const Launch& launch);
/// The same as a node of a graph that is launched in `launch.stream`, or only uploaded.
bankwise::cuda::LaunchSlot* launch_in_graph(const Launch& launch, bool upload);

/// What the patch does `times` times; a bulk copy has a mask of 0.
void access(bankwise::cuda::LaunchSlot* launch, std::uint64_t pc, std::uint32_t what, std::uint32_t mask,
            const std::vector<std::uint32_t>& addresses, std::uint64_t times);

void synchronize_stream(CUcontext context, Sanitizer_StreamHandle stream);
void synchronize_context(CUcontext context);

/// From now on, all that touches device memory fails, as after a kernel that faulted.
void fault();

/// First program counter of the function that sanitizerGetFunctionPcAndSize() reports for `module`.
std::uint64_t pc_of(CUmodule module);

}  // namespace fake
