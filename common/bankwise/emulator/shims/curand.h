// SPDX-License-Identifier: MIT
//
// The host side of cuRAND is not emulated: programs may include its header, but not call it.
#pragma once

#include <cuda_runtime.h>

#include <bankwise/emulator/cuda/not_emulated.hpp>

namespace bankwise::emulator::cuda {

using curandGenerator_t = struct curandGenerator_t_of_library*;
enum curandStatus {
  CURAND_STATUS_SUCCESS = 0,
  CURAND_STATUS_VERSION_MISMATCH = 100,
  CURAND_STATUS_NOT_INITIALIZED,
  CURAND_STATUS_ALLOCATION_FAILED,
  CURAND_STATUS_TYPE_ERROR,
  CURAND_STATUS_OUT_OF_RANGE,
  CURAND_STATUS_LENGTH_NOT_MULTIPLE,
  CURAND_STATUS_DOUBLE_PRECISION_REQUIRED,
  CURAND_STATUS_LAUNCH_FAILURE = 201,
  CURAND_STATUS_PREEXISTING_FAILURE,
  CURAND_STATUS_INITIALIZATION_FAILED,
  CURAND_STATUS_ARCH_MISMATCH,
  CURAND_STATUS_INTERNAL_ERROR = 999,
};
using curandStatus_t = curandStatus;
enum curandRngType {
  CURAND_RNG_TEST = 0,
  CURAND_RNG_PSEUDO_DEFAULT = 100,
  CURAND_RNG_PSEUDO_XORWOW = 101,
  CURAND_RNG_PSEUDO_MRG32K3A = 121,
  CURAND_RNG_PSEUDO_MTGP32 = 141,
  CURAND_RNG_PSEUDO_MT19937 = 142,
  CURAND_RNG_PSEUDO_PHILOX4_32_10 = 161,
  CURAND_RNG_QUASI_DEFAULT = 200,
  CURAND_RNG_QUASI_SOBOL32 = 201,
};
using curandRngType_t = curandRngType;
enum curandOrdering { CURAND_ORDERING_PSEUDO_BEST = 100, CURAND_ORDERING_PSEUDO_DEFAULT = 101 };

// clang-format off
#define BANKWISE_NAMES(X) \
  X(curandCreateGenerator) X(curandCreateGeneratorHost) X(curandDestroyGenerator) \
  X(curandSetPseudoRandomGeneratorSeed) X(curandSetQuasiRandomGeneratorDimensions) X(curandSetGeneratorOffset) \
  X(curandSetGeneratorOrdering) X(curandSetStream) X(curandGenerate) X(curandGenerateUniform) \
  X(curandGenerateUniformDouble) X(curandGenerateNormal) X(curandGenerateNormalDouble) \
  X(curandGenerateLogNormal) X(curandGeneratePoisson) X(curandGetVersion)
// clang-format on
#define BANKWISE_NO(name) BANKWISE_NOT_EMULATED(curandStatus_t, name)
BANKWISE_NAMES(BANKWISE_NO)
#undef BANKWISE_NO
#undef BANKWISE_NAMES

}  // namespace bankwise::emulator::cuda
