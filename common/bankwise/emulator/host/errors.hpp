// SPDX-License-Identifier: MIT
//
// cudaError_t: names, numbers and texts as in CUDA 12.
#pragma once

// clang-format off
// X(name, number, text)
#define BANKWISE_CUDA_ERRORS(X)                                                                                      \
  X(cudaSuccess, 0, "no error")                                                                                      \
  X(cudaErrorInvalidValue, 1, "invalid argument")                                                                    \
  X(cudaErrorMemoryAllocation, 2, "out of memory")                                                                   \
  X(cudaErrorInitializationError, 3, "initialization error")                                                         \
  X(cudaErrorCudartUnloading, 4, "driver shutting down")                                                             \
  X(cudaErrorProfilerDisabled, 5, "profiler disabled while using external profiling tool")                           \
  X(cudaErrorInvalidConfiguration, 9, "invalid configuration argument")                                              \
  X(cudaErrorInvalidPitchValue, 12, "invalid pitch argument")                                                        \
  X(cudaErrorInvalidSymbol, 13, "invalid device symbol")                                                             \
  X(cudaErrorInvalidHostPointer, 16, "invalid host pointer")                                                         \
  X(cudaErrorInvalidDevicePointer, 17, "invalid device pointer")                                                     \
  X(cudaErrorInvalidTexture, 18, "invalid texture reference")                                                        \
  X(cudaErrorInvalidTextureBinding, 19, "texture is not bound to a pointer")                                         \
  X(cudaErrorInvalidChannelDescriptor, 20, "invalid channel descriptor")                                             \
  X(cudaErrorInvalidMemcpyDirection, 21, "invalid copy direction for memcpy")                                        \
  X(cudaErrorMissingConfiguration, 52, "__global__ function call is not configured")                                 \
  X(cudaErrorInvalidDeviceFunction, 98, "invalid device function")                                                   \
  X(cudaErrorNoDevice, 100, "no CUDA-capable device is detected")                                                    \
  X(cudaErrorInvalidDevice, 101, "invalid device ordinal")                                                           \
  X(cudaErrorInvalidKernelImage, 200, "device kernel image is invalid")                                              \
  X(cudaErrorNoKernelImageForDevice, 209, "no kernel image is available for execution on the device")                \
  X(cudaErrorECCUncorrectable, 214, "uncorrectable ECC error encountered")                                           \
  X(cudaErrorPeerAccessUnsupported, 217, "peer access is not supported between these two devices")                   \
  X(cudaErrorInvalidResourceHandle, 400, "invalid resource handle")                                                  \
  X(cudaErrorSymbolNotFound, 500, "named symbol not found")                                                          \
  X(cudaErrorNotReady, 600, "device not ready")                                                                      \
  X(cudaErrorIllegalAddress, 700, "an illegal memory access was encountered")                                        \
  X(cudaErrorLaunchOutOfResources, 701, "too many resources requested for launch")                                   \
  X(cudaErrorLaunchTimeout, 702, "the launch timed out and was terminated")                                          \
  X(cudaErrorPeerAccessAlreadyEnabled, 704, "peer access is already enabled")                                        \
  X(cudaErrorPeerAccessNotEnabled, 705, "peer access has not been enabled")                                          \
  X(cudaErrorSetOnActiveProcess, 708, "cannot set while device is active in this process")                           \
  X(cudaErrorAssert, 710, "device-side assert triggered")                                                            \
  X(cudaErrorHostMemoryAlreadyRegistered, 712, "part or all of the requested memory range is already mapped")        \
  X(cudaErrorHostMemoryNotRegistered, 713, "pointer does not correspond to a registered memory region")              \
  X(cudaErrorMisalignedAddress, 716, "misaligned address")                                                           \
  X(cudaErrorLaunchFailure, 719, "unspecified launch failure")                                                       \
  X(cudaErrorCooperativeLaunchTooLarge, 720, "too many blocks in cooperative launch")                                \
  X(cudaErrorNotPermitted, 800, "operation not permitted")                                                           \
  X(cudaErrorNotSupported, 801, "operation not supported")                                                           \
  X(cudaErrorUnknown, 999, "unknown error")
// clang-format on

enum cudaError : int {
#define BANKWISE_ENUMERATOR(name, number, text) name = number,
  BANKWISE_CUDA_ERRORS(BANKWISE_ENUMERATOR)
#undef BANKWISE_ENUMERATOR
};
using cudaError_t = cudaError;

const char* cudaGetErrorName(cudaError_t error);
const char* cudaGetErrorString(cudaError_t error);
cudaError_t cudaGetLastError();
cudaError_t cudaPeekAtLastError();
