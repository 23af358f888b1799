// SPDX-License-Identifier: MIT
//
// Compilation at run time is not emulated: programs may include its header, but not call it.
#pragma once

#include <cuda_runtime.h>

#include <bankwise/emulator/cuda/not_emulated.hpp>

namespace bankwise::emulator::cuda {

using nvrtcProgram = struct nvrtcProgram_of_library*;
enum nvrtcResult { NVRTC_SUCCESS, NVRTC_ERROR_COMPILATION = 6 };

// clang-format off
#define BANKWISE_NAMES(X) \
  X(nvrtcCreateProgram) X(nvrtcDestroyProgram) X(nvrtcCompileProgram) X(nvrtcGetPTX) X(nvrtcGetPTXSize) \
  X(nvrtcGetCUBIN) X(nvrtcGetCUBINSize) X(nvrtcGetProgramLog) X(nvrtcGetProgramLogSize) X(nvrtcGetErrorString) \
  X(nvrtcVersion)
// clang-format on
#define BANKWISE_NO(name) BANKWISE_NOT_EMULATED(nvrtcResult, name)
BANKWISE_NAMES(BANKWISE_NO)
#undef BANKWISE_NO
#undef BANKWISE_NAMES

}  // namespace bankwise::emulator::cuda
