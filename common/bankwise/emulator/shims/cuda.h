// SPDX-License-Identifier: MIT
//
// The driver API is not emulated: programs may include its header, but not call it.
#pragma once

#include <cuda_runtime.h>

#include <bankwise/emulator/cuda/not_emulated.hpp>

namespace bankwise::emulator::cuda {

using CUcontext = struct CUcontext_of_library*;
using CUmodule = struct CUmodule_of_library*;
using CUfunction = struct CUfunction_of_library*;
using CUkernel = struct CUkernel_of_library*;
using CUlibrary = struct CUlibrary_of_library*;
using CUlinkState = struct CUlinkState_of_library*;
using CUdevice = int;
using CUdevice_v1 = int;
using CUdeviceptr = unsigned long long;
using CUstream = struct CUstream_st*;
using CUevent = struct CUevent_st*;
using CUmemGenericAllocationHandle = unsigned long long;
/// Describes a tensor for TMA, which is not emulated.
struct __align__(64) CUtensorMap {
  unsigned long long opaque[16];
};
enum CUresult {
  CUDA_SUCCESS = 0,
  CUDA_ERROR_INVALID_VALUE = 1,
  CUDA_ERROR_OUT_OF_MEMORY = 2,
  CUDA_ERROR_UNKNOWN = 999
};

// clang-format off
#define BANKWISE_NAMES(X) \
  X(cuInit) X(cuDriverGetVersion) X(cuDeviceGet) X(cuDeviceGetCount) X(cuDeviceGetName) X(cuDeviceGetAttribute) \
  X(cuDeviceComputeCapability) X(cuDeviceTotalMem) X(cuDevicePrimaryCtxRetain) X(cuDevicePrimaryCtxRelease) \
  X(cuCtxCreate) X(cuCtxDestroy) X(cuCtxGetCurrent) X(cuCtxSetCurrent) X(cuCtxPushCurrent) X(cuCtxPopCurrent) \
  X(cuCtxSynchronize) X(cuModuleLoad) X(cuModuleLoadData) X(cuModuleLoadDataEx) X(cuModuleUnload) \
  X(cuModuleGetFunction) X(cuModuleGetGlobal) X(cuLibraryLoadData) X(cuLibraryGetKernel) X(cuLaunchKernel) \
  X(cuLaunchKernelEx) X(cuLaunchCooperativeKernel) X(cuFuncSetAttribute) X(cuFuncGetAttribute) X(cuMemAlloc) \
  X(cuMemAllocHost) X(cuMemAllocManaged) X(cuMemAllocPitch) X(cuMemFree) X(cuMemFreeHost) X(cuMemcpy) \
  X(cuMemcpyHtoD) X(cuMemcpyDtoH) X(cuMemcpyDtoD) X(cuMemcpyHtoDAsync) X(cuMemcpyDtoHAsync) X(cuMemsetD8) \
  X(cuMemsetD32) X(cuMemGetInfo) X(cuMemCreate) X(cuMemRelease) X(cuMemMap) X(cuMemUnmap) X(cuMemSetAccess) \
  X(cuMemAddressReserve) X(cuMemAddressFree) X(cuMemGetAllocationGranularity) X(cuStreamCreate) \
  X(cuStreamDestroy) X(cuStreamSynchronize) X(cuEventCreate) X(cuEventRecord) X(cuEventSynchronize) \
  X(cuEventElapsedTime) X(cuEventDestroy) X(cuGetErrorName) X(cuGetErrorString) X(cuGetProcAddress) \
  X(cuTensorMapEncodeTiled) X(cuTensorMapEncodeIm2col) X(cuOccupancyMaxActiveBlocksPerMultiprocessor) \
  X(cuPointerGetAttribute) X(cuLinkCreate) X(cuLinkAddData) X(cuLinkComplete) X(cuLinkDestroy) X(cuArrayCreate) \
  X(cuTexObjectCreate)
// clang-format on
#define BANKWISE_NO(name) BANKWISE_NOT_EMULATED(CUresult, name)
BANKWISE_NAMES(BANKWISE_NO)
#undef BANKWISE_NO
#undef BANKWISE_NAMES

}  // namespace bankwise::emulator::cuda
