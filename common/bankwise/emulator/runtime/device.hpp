// SPDX-License-Identifier: MIT
//
// Devices: one GPU, of the architecture that `bankcheck emulate --arch` names first.
#pragma once

#include <bankwise/emulator/runtime/types.hpp>

// clang-format off
struct cudaDeviceProp {
  char name[256]; cudaUUID_t uuid; char luid[8]; unsigned luidDeviceNodeMask;
  size_t totalGlobalMem, sharedMemPerBlock; int regsPerBlock, warpSize; size_t memPitch;
  int maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3], clockRate;
  size_t totalConstMem; int major, minor; size_t textureAlignment, texturePitchAlignment;
  int deviceOverlap, multiProcessorCount, kernelExecTimeoutEnabled, integrated, canMapHostMemory, computeMode;
  int maxTexture1D, maxTexture1DMipmap, maxTexture1DLinear, maxTexture2D[2], maxTexture2DMipmap[2];
  int maxTexture2DLinear[3], maxTexture2DGather[2], maxTexture3D[3], maxTexture3DAlt[3], maxTextureCubemap;
  int maxTexture1DLayered[2], maxTexture2DLayered[3], maxTextureCubemapLayered[2];
  int maxSurface1D, maxSurface2D[2], maxSurface3D[3], maxSurface1DLayered[2], maxSurface2DLayered[3];
  int maxSurfaceCubemap, maxSurfaceCubemapLayered[2];
  size_t surfaceAlignment; int concurrentKernels, ECCEnabled, pciBusID, pciDeviceID, pciDomainID, tccDriver;
  int asyncEngineCount, unifiedAddressing, memoryClockRate, memoryBusWidth, l2CacheSize, persistingL2CacheMaxSize;
  int maxThreadsPerMultiProcessor, streamPrioritiesSupported, globalL1CacheSupported, localL1CacheSupported;
  size_t sharedMemPerMultiprocessor; int regsPerMultiprocessor, managedMemory, isMultiGpuBoard, multiGpuBoardGroupID;
  int hostNativeAtomicSupported, singleToDoublePrecisionPerfRatio, pageableMemoryAccess, concurrentManagedAccess;
  int computePreemptionSupported, canUseHostPointerForRegisteredMem, cooperativeLaunch, cooperativeMultiDeviceLaunch;
  size_t sharedMemPerBlockOptin; int pageableMemoryAccessUsesHostPageTables, directManagedMemAccessFromHost;
  int maxBlocksPerMultiProcessor, accessPolicyMaxWindowSize; size_t reservedSharedMemPerBlock;
  int hostRegisterSupported, sparseCudaArraySupported, hostRegisterReadOnlySupported, memoryPoolsSupported;
  int clusterLaunch, unifiedFunctionPointers;
};

// X(name, number, member of cudaDeviceProp)
#define BANKWISE_CUDA_DEVICE_ATTRIBUTES(X)                                                                            \
  X(cudaDevAttrMaxThreadsPerBlock, 1, maxThreadsPerBlock)                                                             \
  X(cudaDevAttrMaxBlockDimX, 2, maxThreadsDim[0])                                                                     \
  X(cudaDevAttrMaxBlockDimY, 3, maxThreadsDim[1])                                                                     \
  X(cudaDevAttrMaxBlockDimZ, 4, maxThreadsDim[2])                                                                     \
  X(cudaDevAttrMaxGridDimX, 5, maxGridSize[0])                                                                        \
  X(cudaDevAttrMaxGridDimY, 6, maxGridSize[1])                                                                        \
  X(cudaDevAttrMaxGridDimZ, 7, maxGridSize[2])                                                                        \
  X(cudaDevAttrMaxSharedMemoryPerBlock, 8, sharedMemPerBlock)                                                         \
  X(cudaDevAttrTotalConstantMemory, 9, totalConstMem)                                                                 \
  X(cudaDevAttrWarpSize, 10, warpSize)                                                                                \
  X(cudaDevAttrMaxPitch, 11, memPitch)                                                                                \
  X(cudaDevAttrMaxRegistersPerBlock, 12, regsPerBlock)                                                                \
  X(cudaDevAttrClockRate, 13, clockRate)                                                                              \
  X(cudaDevAttrTextureAlignment, 14, textureAlignment)                                                                \
  X(cudaDevAttrGpuOverlap, 15, deviceOverlap)                                                                         \
  X(cudaDevAttrMultiProcessorCount, 16, multiProcessorCount)                                                          \
  X(cudaDevAttrKernelExecTimeout, 17, kernelExecTimeoutEnabled)                                                       \
  X(cudaDevAttrIntegrated, 18, integrated)                                                                            \
  X(cudaDevAttrCanMapHostMemory, 19, canMapHostMemory)                                                                \
  X(cudaDevAttrComputeMode, 20, computeMode)                                                                          \
  X(cudaDevAttrConcurrentKernels, 31, concurrentKernels)                                                              \
  X(cudaDevAttrEccEnabled, 32, ECCEnabled)                                                                            \
  X(cudaDevAttrPciBusId, 33, pciBusID)                                                                                \
  X(cudaDevAttrPciDeviceId, 34, pciDeviceID)                                                                          \
  X(cudaDevAttrTccDriver, 35, tccDriver)                                                                              \
  X(cudaDevAttrMemoryClockRate, 36, memoryClockRate)                                                                  \
  X(cudaDevAttrGlobalMemoryBusWidth, 37, memoryBusWidth)                                                              \
  X(cudaDevAttrL2CacheSize, 38, l2CacheSize)                                                                          \
  X(cudaDevAttrMaxThreadsPerMultiProcessor, 39, maxThreadsPerMultiProcessor)                                          \
  X(cudaDevAttrAsyncEngineCount, 40, asyncEngineCount)                                                                \
  X(cudaDevAttrUnifiedAddressing, 41, unifiedAddressing)                                                              \
  X(cudaDevAttrComputeCapabilityMajor, 75, major)                                                                     \
  X(cudaDevAttrComputeCapabilityMinor, 76, minor)                                                                     \
  X(cudaDevAttrStreamPrioritiesSupported, 78, streamPrioritiesSupported)                                              \
  X(cudaDevAttrMaxSharedMemoryPerMultiprocessor, 81, sharedMemPerMultiprocessor)                                      \
  X(cudaDevAttrMaxRegistersPerMultiprocessor, 82, regsPerMultiprocessor)                                              \
  X(cudaDevAttrManagedMemory, 83, managedMemory)                                                                      \
  X(cudaDevAttrHostNativeAtomicSupported, 86, hostNativeAtomicSupported)                                              \
  X(cudaDevAttrPageableMemoryAccess, 88, pageableMemoryAccess)                                                        \
  X(cudaDevAttrConcurrentManagedAccess, 89, concurrentManagedAccess)                                                  \
  X(cudaDevAttrComputePreemptionSupported, 90, computePreemptionSupported)                                            \
  X(cudaDevAttrCooperativeLaunch, 95, cooperativeLaunch)                                                              \
  X(cudaDevAttrMaxSharedMemoryPerBlockOptin, 97, sharedMemPerBlockOptin)                                              \
  X(cudaDevAttrMaxBlocksPerMultiprocessor, 106, maxBlocksPerMultiProcessor)                                           \
  X(cudaDevAttrMaxPersistingL2CacheSize, 108, persistingL2CacheMaxSize)                                               \
  X(cudaDevAttrReservedSharedMemoryPerBlock, 111, reservedSharedMemPerBlock)                                          \
  X(cudaDevAttrMemoryPoolsSupported, 115, memoryPoolsSupported)                                                       \
  X(cudaDevAttrClusterLaunch, 120, clusterLaunch)
// clang-format on

enum cudaDeviceAttr {
#define BANKWISE_ENUMERATOR(name, number, member) name = number,
  BANKWISE_CUDA_DEVICE_ATTRIBUTES(BANKWISE_ENUMERATOR)
#undef BANKWISE_ENUMERATOR
};

cudaError_t cudaGetDeviceCount(int* count);
cudaError_t cudaGetDevice(int* device);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device);
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device);
cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp* properties);
cudaError_t cudaDeviceGetPCIBusId(char* id, int length, int device);
cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer);
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags);
cudaError_t cudaDeviceDisablePeerAccess(int peer);
cudaError_t cudaDriverGetVersion(int* version);
cudaError_t cudaRuntimeGetVersion(int* version);
cudaError_t cudaDeviceSynchronize();
cudaError_t cudaDeviceReset();
cudaError_t cudaThreadSynchronize();
cudaError_t cudaThreadExit();
cudaError_t cudaSetDeviceFlags(unsigned flags);
cudaError_t cudaGetDeviceFlags(unsigned* flags);
cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t value);
cudaError_t cudaDeviceGetLimit(size_t* value, cudaLimit limit);
cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache configuration);
cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* configuration);
cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig configuration);
cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig* configuration);
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest);
cudaError_t cudaProfilerStart();
cudaError_t cudaProfilerStop();

// --- Streams and events. All work is done in the order of the calls; CUDA allows this order for every stream. ---

using cudaStreamCallback_t = void (*)(cudaStream_t stream, cudaError_t status, void* data);
using cudaHostFn_t = void (*)(void* data);

cudaError_t cudaStreamCreate(cudaStream_t* stream);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags);
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamQuery(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags = 0);
cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void* data, unsigned flags);
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data);
cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void* memory, size_t bytes = 0, unsigned flags = 4);
cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority);
cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned* flags);

cudaError_t cudaEventCreate(cudaEvent_t* event);
cudaError_t cudaEventCreate(cudaEvent_t* event, unsigned flags);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream = nullptr);
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream = nullptr, unsigned flags = 0);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventQuery(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t from, cudaEvent_t to);
