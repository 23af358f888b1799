// Devices: one GPU, of the architecture that `bankcheck emulate --arch` names first.
#pragma once

#include <bankwise/emulator/runtime/types.hpp>

namespace bankwise::emulator::runtime {

/// What a program waits for or asks about has happened, unless it captures: that is an error (captures.hpp).
cudaError_t wait_for(cudaStream_t stream);
cudaError_t wait_for(cudaEvent_t event);
cudaError_t wait_for_all();

}  // namespace bankwise::emulator::runtime

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
  char gcnArchName[256]; size_t maxSharedMemoryPerMultiProcessor; int imageSupport;  // HIP's
};

// X(name without cudaDevAttr, number, member of cudaDeviceProp)
#define BANKWISE_CUDA_DEVICE_ATTRIBUTES(X)                                                                            \
  X(MaxThreadsPerBlock, 1, maxThreadsPerBlock) X(MaxBlockDimX, 2, maxThreadsDim[0])                                   \
  X(MaxBlockDimY, 3, maxThreadsDim[1]) X(MaxBlockDimZ, 4, maxThreadsDim[2]) X(MaxGridDimX, 5, maxGridSize[0])         \
  X(MaxGridDimY, 6, maxGridSize[1]) X(MaxGridDimZ, 7, maxGridSize[2])                                                 \
  X(MaxSharedMemoryPerBlock, 8, sharedMemPerBlock) X(TotalConstantMemory, 9, totalConstMem)                           \
  X(WarpSize, 10, warpSize) X(MaxPitch, 11, memPitch) X(MaxRegistersPerBlock, 12, regsPerBlock)                       \
  X(ClockRate, 13, clockRate) X(TextureAlignment, 14, textureAlignment) X(GpuOverlap, 15, deviceOverlap)              \
  X(MultiProcessorCount, 16, multiProcessorCount) X(KernelExecTimeout, 17, kernelExecTimeoutEnabled)                  \
  X(Integrated, 18, integrated) X(CanMapHostMemory, 19, canMapHostMemory) X(ComputeMode, 20, computeMode)             \
  X(ConcurrentKernels, 31, concurrentKernels) X(EccEnabled, 32, ECCEnabled) X(PciBusId, 33, pciBusID)                 \
  X(PciDeviceId, 34, pciDeviceID) X(TccDriver, 35, tccDriver) X(MemoryClockRate, 36, memoryClockRate)                 \
  X(GlobalMemoryBusWidth, 37, memoryBusWidth) X(L2CacheSize, 38, l2CacheSize)                                         \
  X(MaxThreadsPerMultiProcessor, 39, maxThreadsPerMultiProcessor) X(AsyncEngineCount, 40, asyncEngineCount)           \
  X(UnifiedAddressing, 41, unifiedAddressing) X(ComputeCapabilityMajor, 75, major)                                    \
  X(ComputeCapabilityMinor, 76, minor) X(StreamPrioritiesSupported, 78, streamPrioritiesSupported)                    \
  X(MaxSharedMemoryPerMultiprocessor, 81, sharedMemPerMultiprocessor)                                                 \
  X(MaxRegistersPerMultiprocessor, 82, regsPerMultiprocessor) X(ManagedMemory, 83, managedMemory)                     \
  X(HostNativeAtomicSupported, 86, hostNativeAtomicSupported) X(PageableMemoryAccess, 88, pageableMemoryAccess)       \
  X(ConcurrentManagedAccess, 89, concurrentManagedAccess)                                                             \
  X(ComputePreemptionSupported, 90, computePreemptionSupported) X(CooperativeLaunch, 95, cooperativeLaunch)           \
  X(MaxSharedMemoryPerBlockOptin, 97, sharedMemPerBlockOptin)                                                         \
  X(MaxBlocksPerMultiprocessor, 106, maxBlocksPerMultiProcessor)                                                      \
  X(MaxPersistingL2CacheSize, 108, persistingL2CacheMaxSize)                                                          \
  X(ReservedSharedMemoryPerBlock, 111, reservedSharedMemPerBlock) X(MemoryPoolsSupported, 115, memoryPoolsSupported)  \
  X(ClusterLaunch, 120, clusterLaunch) X(ImageSupport, 10008, imageSupport)
// clang-format on

enum cudaDeviceAttr {
#define BANKWISE_ENUMERATOR(name, number, member) cudaDevAttr##name = number,
  BANKWISE_CUDA_DEVICE_ATTRIBUTES(BANKWISE_ENUMERATOR)
#undef BANKWISE_ENUMERATOR
};

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device);
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device);
cudaError_t cudaDeviceGetPCIBusId(char* id, int length, int device);
cudaError_t cudaSetDeviceFlags(unsigned flags);
cudaError_t cudaGetDeviceFlags(unsigned* flags);
cudaError_t cudaDeviceGetLimit(size_t* value, cudaLimit limit);

BANKWISE_RUNTIME(cudaGetDeviceCount, (int* count), give(count, 1))
BANKWISE_RUNTIME(cudaGetDevice, (int* device), give(device, 0))
BANKWISE_RUNTIME(cudaSetDevice, (int device), failed(device == 0 ? cudaSuccess : cudaErrorInvalidDevice))
BANKWISE_RUNTIME(cudaChooseDevice, (int* device, const cudaDeviceProp*), give(device, 0))
BANKWISE_RUNTIME(cudaDeviceCanAccessPeer, (int* can, int, int), give(can, 0))
enum cudaDeviceP2PAttr {
  cudaDevP2PAttrPerformanceRank = 1,
  cudaDevP2PAttrAccessSupported,
  cudaDevP2PAttrNativeAtomicSupported,
  cudaDevP2PAttrCudaArrayAccessSupported
};
// One device: there is no pair of two.
BANKWISE_RUNTIME(cudaDeviceGetP2PAttribute, (int*, cudaDeviceP2PAttr, int, int), failed(cudaErrorInvalidDevice))
BANKWISE_RUNTIME(cudaDeviceEnablePeerAccess, (int, unsigned), failed(cudaErrorInvalidDevice))
BANKWISE_RUNTIME(cudaDeviceDisablePeerAccess, (int), failed(cudaErrorInvalidDevice))
BANKWISE_RUNTIME(cudaDriverGetVersion, (int* version), give(version, CUDART_VERSION))
BANKWISE_RUNTIME(cudaRuntimeGetVersion, (int* version), give(version, CUDART_VERSION))
BANKWISE_RUNTIME(cudaDeviceSynchronize, (), wait_for_all())
BANKWISE_RUNTIME(cudaDeviceReset, (), lasting_error())
BANKWISE_RUNTIME(cudaThreadSynchronize, (), wait_for_all())
BANKWISE_RUNTIME(cudaThreadExit, (), lasting_error())
inline cudaError_t cudaDeviceSetLimit(cudaLimit, size_t) { return cudaSuccess; }
inline cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache) { return cudaSuccess; }
BANKWISE_RUNTIME(cudaDeviceGetCacheConfig, (cudaFuncCache * configuration),
                 give(configuration, cudaFuncCachePreferNone))
inline cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig) { return cudaSuccess; }
BANKWISE_RUNTIME(cudaDeviceGetSharedMemConfig, (cudaSharedMemConfig * configuration),
                 give(configuration, cudaSharedMemBankSizeFourByte))
inline cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  if (least != nullptr) *least = 0;
  if (greatest != nullptr) *greatest = -5;
  return cudaSuccess;
}
inline cudaError_t cudaProfilerStart() { return cudaSuccess; }
inline cudaError_t cudaProfilerStop() { return cudaSuccess; }

// --- Streams and events. All work is done in the order of the calls, or of a graph; CUDA allows this order for every
// stream. ---

using cudaStreamCallback_t = void (*)(cudaStream_t stream, cudaError_t status, void* data);
using cudaHostFn_t = void (*)(void* data);

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority);
cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned* flags);
BANKWISE_FUNCTION(cudaError_t, cudaStreamCreateWithFlags, (cudaStream_t * stream, unsigned flags),
                  cudaStreamCreateWithPriority(stream, flags, 0))
inline cudaError_t cudaStreamCreate(cudaStream_t* stream) { return cudaStreamCreateWithPriority(stream, 0, 0); }
BANKWISE_RUNTIME(cudaStreamSynchronize, (cudaStream_t stream), wait_for(stream))
BANKWISE_RUNTIME(cudaStreamQuery, (cudaStream_t stream), wait_for(stream))
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags = 0);
cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void* data, unsigned flags);
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data);
inline cudaError_t cudaStreamAttachMemAsync(cudaStream_t, void*, size_t = 0, unsigned = 4) { return cudaSuccess; }

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream = nullptr, unsigned flags = 0);
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t from, cudaEvent_t to);
BANKWISE_FUNCTION(cudaError_t, cudaEventCreate, (cudaEvent_t * event, unsigned flags = 0),
                  cudaEventCreateWithFlags(event, flags))
BANKWISE_FUNCTION(cudaError_t, cudaEventRecord, (cudaEvent_t event, cudaStream_t stream = nullptr),
                  cudaEventRecordWithFlags(event, stream))
BANKWISE_RUNTIME(cudaEventSynchronize, (cudaEvent_t event), wait_for(event))
BANKWISE_RUNTIME(cudaEventQuery, (cudaEvent_t event), wait_for(event))
