// The driver API is not emulated: programs may include its header, but not call it.
#pragma once

#include <cuda_runtime.h>

#include <bankwise/emulator/cuda/not_emulated.hpp>

namespace bankwise::emulator::cuda {

BANKWISE_HANDLES(CUcontext, CUmodule, CUfunction, CUkernel, CUlibrary, CUlinkState)
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
  CUDA_SUCCESS = 0, CUDA_ERROR_INVALID_VALUE = 1, CUDA_ERROR_OUT_OF_MEMORY = 2, CUDA_ERROR_UNKNOWN = 999
};

BANKWISE_NONE_OF(CUresult, cuInit, cuDriverGetVersion, cuDeviceGet, cuDeviceGetCount, cuDeviceGetName,
                 cuDeviceGetAttribute, cuDeviceComputeCapability, cuDeviceTotalMem, cuDevicePrimaryCtxRetain,
                 cuDevicePrimaryCtxRelease, cuCtxCreate, cuCtxDestroy, cuCtxGetCurrent, cuCtxSetCurrent,
                 cuCtxPushCurrent, cuCtxPopCurrent, cuCtxSynchronize, cuModuleLoad, cuModuleLoadData,
                 cuModuleLoadDataEx, cuModuleUnload, cuModuleGetFunction, cuModuleGetGlobal, cuLibraryLoadData,
                 cuLibraryGetKernel, cuLaunchKernel, cuLaunchKernelEx, cuLaunchCooperativeKernel, cuFuncSetAttribute,
                 cuFuncGetAttribute, cuMemAlloc, cuMemAllocHost, cuMemAllocManaged, cuMemAllocPitch, cuMemFree,
                 cuMemFreeHost, cuMemcpy, cuMemcpyHtoD, cuMemcpyDtoH, cuMemcpyDtoD, cuMemcpyHtoDAsync,
                 cuMemcpyDtoHAsync, cuMemsetD8, cuMemsetD32, cuMemGetInfo, cuMemCreate, cuMemRelease, cuMemMap,
                 cuMemUnmap, cuMemSetAccess, cuMemAddressReserve, cuMemAddressFree, cuMemGetAllocationGranularity,
                 cuStreamCreate, cuStreamDestroy, cuStreamSynchronize, cuEventCreate, cuEventRecord, cuEventSynchronize,
                 cuEventElapsedTime, cuEventDestroy, cuGetErrorName, cuGetErrorString, cuGetProcAddress,
                 cuTensorMapEncodeTiled, cuTensorMapEncodeIm2col, cuOccupancyMaxActiveBlocksPerMultiprocessor,
                 cuPointerGetAttribute, cuLinkCreate, cuLinkAddData, cuLinkComplete, cuLinkDestroy, cuArrayCreate,
                 cuTexObjectCreate)

}  // namespace bankwise::emulator::cuda
