// The host side of cuRAND is not emulated: programs may include its header, but not call it.
#pragma once

#include <cuda_runtime.h>
#include <library_types.h>

#include <bankwise/emulator/cuda/not_emulated.hpp>

// clang-format off
#define BANKWISE_CURAND_FUNCTIONS \
  curandCreateGenerator, curandCreateGeneratorHost, curandDestroyGenerator, curandSetPseudoRandomGeneratorSeed, \
  curandSetQuasiRandomGeneratorDimensions, curandSetGeneratorOffset, curandSetGeneratorOrdering, curandSetStream, \
  curandGenerate, curandGenerateUniform, curandGenerateUniformDouble, curandGenerateNormal, \
  curandGenerateNormalDouble, curandGenerateLogNormal, curandGeneratePoisson, curandGetVersion

#ifdef BANKWISE_TOOLKIT_CURAND  // the header of a CUDA Toolkit, which curand_kernel.h needs
#include BANKWISE_TOOLKIT_CURAND
#define BANKWISE_REFUSE(result, name) __attribute__((__error__(#name " is not emulated"))) decltype(name) name;
#define BANKWISE_REFUSE_ALL(...) BANKWISE_SCAN(BANKWISE_FIRST(BANKWISE_REFUSE, , __VA_ARGS__))
extern "C" {
BANKWISE_REFUSE_ALL(BANKWISE_CURAND_FUNCTIONS)
}
#undef BANKWISE_REFUSE_ALL
#undef BANKWISE_REFUSE
#else
namespace bankwise::emulator::cuda {

BANKWISE_HANDLES(curandGenerator_t)
enum curandStatus {
  CURAND_STATUS_SUCCESS, CURAND_STATUS_VERSION_MISMATCH = 100, CURAND_STATUS_NOT_INITIALIZED,
  CURAND_STATUS_ALLOCATION_FAILED, CURAND_STATUS_TYPE_ERROR, CURAND_STATUS_OUT_OF_RANGE,
  CURAND_STATUS_LENGTH_NOT_MULTIPLE, CURAND_STATUS_DOUBLE_PRECISION_REQUIRED, CURAND_STATUS_LAUNCH_FAILURE = 201,
  CURAND_STATUS_PREEXISTING_FAILURE, CURAND_STATUS_INITIALIZATION_FAILED, CURAND_STATUS_ARCH_MISMATCH,
  CURAND_STATUS_INTERNAL_ERROR = 999
};
using curandStatus_t = curandStatus;
enum curandRngType {
  CURAND_RNG_TEST = 0, CURAND_RNG_PSEUDO_DEFAULT = 100, CURAND_RNG_PSEUDO_XORWOW = 101,
  CURAND_RNG_PSEUDO_MRG32K3A = 121, CURAND_RNG_PSEUDO_MTGP32 = 141, CURAND_RNG_PSEUDO_MT19937 = 142,
  CURAND_RNG_PSEUDO_PHILOX4_32_10 = 161, CURAND_RNG_QUASI_DEFAULT = 200, CURAND_RNG_QUASI_SOBOL32 = 201
};
using curandRngType_t = curandRngType;
enum curandOrdering { CURAND_ORDERING_PSEUDO_BEST = 100, CURAND_ORDERING_PSEUDO_DEFAULT = 101 };
BANKWISE_NONE_OF(curandStatus_t, BANKWISE_CURAND_FUNCTIONS)

}  // namespace bankwise::emulator::cuda
#endif
#undef BANKWISE_CURAND_FUNCTIONS
// clang-format on
