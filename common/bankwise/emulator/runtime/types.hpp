// SPDX-License-Identifier: MIT
//
// Types and flags of the CUDA runtime API.
#pragma once

#include <stddef.h>

#include <bankwise/emulator/cuda/vector_types.hpp>
#include <bankwise/emulator/runtime/errors.hpp>

/// A function of CUDA: one call of the emulator. Inlined, so that reports name the program's line.
#define BANKWISE_RUNTIME(name, parameters, ...) \
  BANKWISE_FUNCTION(cudaError_t, name, parameters, bankwise_runtime::__VA_ARGS__)
/// The same, and its form for a stream.
#define BANKWISE_RUNTIME_ASYNC(name, parameters, ...) \
  BANKWISE_RUNTIME(name, parameters, __VA_ARGS__)     \
  BANKWISE_RUNTIME(name##Async, (BANKWISE_LISTED parameters, cudaStream_t = nullptr), __VA_ARGS__)
#define BANKWISE_LISTED(...) __VA_ARGS__

#define CUDART_VERSION 12080
#define CUDA_VERSION 12080
#define CUDART_CB
// By these guards of CUDA's headers the samples' helper_cuda.h knows what has been included.
#define __CUDA_RUNTIME_H__
#define __DRIVER_TYPES_H__

/// Streams and events. Everything that a program gives to a stream is done before the call returns.
struct CUstream_st;
using cudaStream_t = CUstream_st*;
struct CUevent_st;
using cudaEvent_t = CUevent_st*;
#define cudaStreamLegacy (reinterpret_cast<cudaStream_t>(1))
#define cudaStreamPerThread (reinterpret_cast<cudaStream_t>(2))

// clang-format off
enum cudaMemcpyKind {
  cudaMemcpyHostToHost, cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice, cudaMemcpyDefault
};

enum : unsigned {
  cudaStreamDefault = 0, cudaStreamNonBlocking = 1,
  cudaEventDefault = 0, cudaEventBlockingSync = 1, cudaEventDisableTiming = 2, cudaEventInterprocess = 4,
  cudaEventRecordDefault = 0, cudaEventWaitDefault = 0,
  cudaHostAllocDefault = 0, cudaHostAllocPortable = 1, cudaHostAllocMapped = 2, cudaHostAllocWriteCombined = 4,
  cudaHostRegisterDefault = 0, cudaHostRegisterPortable = 1, cudaHostRegisterMapped = 2, cudaHostRegisterIoMemory = 4,
  cudaHostRegisterReadOnly = 8,
  cudaMemAttachGlobal = 1, cudaMemAttachHost = 2, cudaMemAttachSingle = 4,
  cudaDeviceScheduleAuto = 0, cudaDeviceScheduleSpin = 1, cudaDeviceScheduleYield = 2,
  cudaDeviceScheduleBlockingSync = 4, cudaDeviceBlockingSync = 4, cudaDeviceMapHost = 8, cudaDeviceLmemResizeToMax = 16,
  cudaOccupancyDefault = 0, cudaOccupancyDisableCachingOverride = 1
};
#define cudaCpuDeviceId (-1)
#define cudaInvalidDeviceId (-2)

enum cudaFuncCache {
  cudaFuncCachePreferNone, cudaFuncCachePreferShared, cudaFuncCachePreferL1, cudaFuncCachePreferEqual
};
enum cudaSharedMemConfig {
  cudaSharedMemBankSizeDefault, cudaSharedMemBankSizeFourByte, cudaSharedMemBankSizeEightByte
};
enum cudaSharedCarveout {
  cudaSharedmemCarveoutDefault = -1, cudaSharedmemCarveoutMaxShared = 100, cudaSharedmemCarveoutMaxL1 = 0
};
enum cudaFuncAttribute {
  cudaFuncAttributeMaxDynamicSharedMemorySize = 8, cudaFuncAttributePreferredSharedMemoryCarveout,
  cudaFuncAttributeClusterDimMustBeSet, cudaFuncAttributeRequiredClusterWidth, cudaFuncAttributeRequiredClusterHeight,
  cudaFuncAttributeRequiredClusterDepth, cudaFuncAttributeNonPortableClusterSizeAllowed
};
struct cudaFuncAttributes {
  size_t sharedSizeBytes, constSizeBytes, localSizeBytes;
  int maxThreadsPerBlock, numRegs, ptxVersion, binaryVersion, cacheModeCA, maxDynamicSharedSizeBytes;
  int preferredShmemCarveout;
};
enum cudaLimit {
  cudaLimitStackSize, cudaLimitPrintfFifoSize, cudaLimitMallocHeapSize, cudaLimitDevRuntimeSyncDepth,
  cudaLimitDevRuntimePendingLaunchCount, cudaLimitMaxL2FetchGranularity, cudaLimitPersistingL2CacheSize
};
enum cudaComputeMode {
  cudaComputeModeDefault, cudaComputeModeExclusive, cudaComputeModeProhibited, cudaComputeModeExclusiveProcess
};
enum cudaMemoryType { cudaMemoryTypeUnregistered, cudaMemoryTypeHost, cudaMemoryTypeDevice, cudaMemoryTypeManaged };
struct cudaPointerAttributes {
  cudaMemoryType type;
  int device;
  void *devicePointer, *hostPointer;
};
enum cudaMemoryAdvise {
  cudaMemAdviseSetReadMostly = 1, cudaMemAdviseUnsetReadMostly, cudaMemAdviseSetPreferredLocation,
  cudaMemAdviseUnsetPreferredLocation, cudaMemAdviseSetAccessedBy, cudaMemAdviseUnsetAccessedBy
};
enum cudaMemLocationType { cudaMemLocationTypeInvalid, cudaMemLocationTypeDevice, cudaMemLocationTypeHost };
struct cudaMemLocation { cudaMemLocationType type; int id; };

struct cudaExtent { size_t width, height, depth; };
struct cudaPos { size_t x, y, z; };
struct cudaPitchedPtr { void* ptr; size_t pitch, xsize, ysize; };
struct cudaUUID_t { char bytes[16]; };
// clang-format on
inline cudaExtent make_cudaExtent(size_t width, size_t height, size_t depth) { return {width, height, depth}; }
inline cudaPos make_cudaPos(size_t x, size_t y, size_t z) { return {x, y, z}; }
inline cudaPitchedPtr make_cudaPitchedPtr(void* pointer, size_t pitch, size_t width, size_t height) {
  return {pointer, pitch, width, height};
}
