// SPDX-License-Identifier: MIT
//
// cuSOLVER is not emulated: programs may include its header, but not call it.
#pragma once

#include <cuda_runtime.h>

#include <bankwise/emulator/cuda/not_emulated.hpp>

namespace bankwise::emulator::cuda {

using cusolverDnHandle_t = struct cusolverDnHandle_t_of_library*;
enum cusolverStatus_t { CUSOLVER_STATUS_SUCCESS, CUSOLVER_STATUS_NOT_INITIALIZED };

// clang-format off
#define BANKWISE_NAMES(X) \
  X(cusolverDnCreate) X(cusolverDnDestroy) X(cusolverDnSetStream) X(cusolverDnSgetrf) X(cusolverDnDgetrf) \
  X(cusolverDnSgetrs) X(cusolverDnDgetrs) X(cusolverDnSpotrf) X(cusolverDnDpotrf) X(cusolverDnSgeqrf) \
  X(cusolverDnDgeqrf) X(cusolverDnSgesvd) X(cusolverDnDgesvd) X(cusolverDnSsyevd) X(cusolverDnDsyevd)
// clang-format on
#define BANKWISE_NO(name) BANKWISE_NOT_EMULATED(cusolverStatus_t, name)
BANKWISE_NAMES(BANKWISE_NO)
#undef BANKWISE_NO
#undef BANKWISE_NAMES

}  // namespace bankwise::emulator::cuda
