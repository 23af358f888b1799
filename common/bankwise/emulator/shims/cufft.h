// SPDX-License-Identifier: MIT
//
// cuFFT is not emulated: programs may include its header, but not call it.
#pragma once

#include <cuda_runtime.h>
#include <library_types.h>

#include <bankwise/emulator/cuda/not_emulated.hpp>

namespace bankwise::emulator::cuda {

using cufftHandle = int;
using cufftReal = float;
using cufftDoubleReal = double;
using cufftComplex = float2;
using cufftDoubleComplex = double2;
enum cufftResult_t {
  CUFFT_SUCCESS,
  CUFFT_INVALID_PLAN,
  CUFFT_ALLOC_FAILED,
  CUFFT_INVALID_TYPE,
  CUFFT_INVALID_VALUE,
  CUFFT_INTERNAL_ERROR,
  CUFFT_EXEC_FAILED,
  CUFFT_SETUP_FAILED,
  CUFFT_INVALID_SIZE,
  CUFFT_UNALIGNED_DATA,
};
using cufftResult = cufftResult_t;
enum cufftType {
  CUFFT_R2C = 0x2A,
  CUFFT_C2R = 0x2C,
  CUFFT_C2C = 0x29,
  CUFFT_D2Z = 0x6A,
  CUFFT_Z2D = 0x6C,
  CUFFT_Z2Z = 0x69,
};
inline constexpr int CUFFT_FORWARD = -1, CUFFT_INVERSE = 1;

// clang-format off
#define BANKWISE_NAMES(X) \
  X(cufftCreate) X(cufftDestroy) X(cufftPlan1d) X(cufftPlan2d) X(cufftPlan3d) X(cufftPlanMany) \
  X(cufftMakePlan1d) X(cufftMakePlan2d) X(cufftMakePlanMany) X(cufftExecC2C) X(cufftExecR2C) X(cufftExecC2R) \
  X(cufftExecZ2Z) X(cufftExecD2Z) X(cufftExecZ2D) X(cufftSetStream) X(cufftSetWorkArea) X(cufftGetSize) \
  X(cufftEstimate1d) X(cufftXtSetGPUs) X(cufftXtMalloc) X(cufftXtFree) X(cufftXtMemcpy) \
  X(cufftXtExecDescriptorC2C) X(cufftXtExecDescriptor) X(cufftXtSetCallback)
// clang-format on
#define BANKWISE_NO(name) BANKWISE_NOT_EMULATED(cufftResult, name)
BANKWISE_NAMES(BANKWISE_NO)
#undef BANKWISE_NO
#undef BANKWISE_NAMES

}  // namespace bankwise::emulator::cuda
