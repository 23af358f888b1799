// Errors, types and flags of the CUDA runtime API.
#pragma once

#include <stddef.h>

#include <bankwise/emulator/cuda/vector_types.hpp>

/// A function of CUDA: one call of the emulator. Inlined, so that reports name the program's line.
#define BANKWISE_RUNTIME(name, parameters, ...) \
  BANKWISE_FUNCTION(cudaError_t, name, parameters, bankwise_runtime::__VA_ARGS__)
/// The same, and its form for a stream, which is the last of the emulator's arguments.
#define BANKWISE_RUNTIME_ASYNC(name, parameters, function, arguments)                        \
  BANKWISE_RUNTIME(name, parameters, function(__func__, BANKWISE_LISTED arguments))          \
  BANKWISE_RUNTIME(name##Async, (BANKWISE_LISTED parameters, cudaStream_t stream = nullptr), \
                   function(__func__, BANKWISE_LISTED arguments, stream))
#define BANKWISE_LISTED(...) __VA_ARGS__

// --- Errors: names and numbers as in CUDA 12, and the names that older programs have ---

// clang-format off
// X(name without cudaError, number, text)
#define BANKWISE_CUDA_ERRORS(X)                                                                                       \
  X(InvalidValue, 1, "invalid argument") X(MemoryAllocation, 2, "out of memory")                                      \
  X(InitializationError, 3, "initialization error") X(CudartUnloading, 4, "driver shutting down")                     \
  X(ProfilerDisabled, 5, "profiler disabled while using external profiling tool")                                     \
  X(ProfilerNotInitialized, 6, "profiler not initialized") X(ProfilerAlreadyStarted, 7, "profiler already started")   \
  X(ProfilerAlreadyStopped, 8, "profiler already stopped")                                                            \
  X(InvalidConfiguration, 9, "invalid configuration argument") X(InvalidPitchValue, 12, "invalid pitch argument")     \
  X(InvalidSymbol, 13, "invalid device symbol") X(InvalidHostPointer, 16, "invalid host pointer")                     \
  X(InvalidDevicePointer, 17, "invalid device pointer") X(InvalidTexture, 18, "invalid texture reference")            \
  X(InvalidTextureBinding, 19, "texture is not bound to a pointer")                                                   \
  X(InvalidChannelDescriptor, 20, "invalid channel descriptor")                                                       \
  X(InvalidMemcpyDirection, 21, "invalid copy direction for memcpy") X(AddressOfConstant, 22, "address of constant")  \
  X(TextureFetchFailed, 23, "texture fetch failed") X(TextureNotBound, 24, "texture not bound")                       \
  X(SynchronizationError, 25, "synchronization error") X(InvalidFilterSetting, 26, "invalid filter setting")          \
  X(InvalidNormSetting, 27, "invalid norm setting") X(MixedDeviceExecution, 28, "mixed device execution")             \
  X(NotYetImplemented, 31, "not yet implemented") X(MemoryValueTooLarge, 32, "memory value too large")                \
  X(StubLibrary, 34, "stub library") X(InsufficientDriver, 35, "insufficient driver")                                 \
  X(CallRequiresNewerDriver, 36, "call requires newer driver") X(InvalidSurface, 37, "invalid surface")               \
  X(DuplicateVariableName, 43, "duplicate variable name") X(DuplicateTextureName, 44, "duplicate texture name")       \
  X(DuplicateSurfaceName, 45, "duplicate surface name") X(DevicesUnavailable, 46, "devices unavailable")              \
  X(IncompatibleDriverContext, 49, "incompatible driver context")                                                     \
  X(MissingConfiguration, 52, "__global__ function call is not configured")                                           \
  X(PriorLaunchFailure, 53, "prior launch failure") X(LaunchMaxDepthExceeded, 65, "launch max depth exceeded")        \
  X(LaunchFileScopedTex, 66, "launch file scoped tex") X(LaunchFileScopedSurf, 67, "launch file scoped surf")         \
  X(SyncDepthExceeded, 68, "sync depth exceeded") X(LaunchPendingCountExceeded, 69, "launch pending count exceeded")  \
  X(InvalidDeviceFunction, 98, "invalid device function") X(NoDevice, 100, "no CUDA-capable device is detected")      \
  X(InvalidDevice, 101, "invalid device ordinal") X(DeviceNotLicensed, 102, "device not licensed")                    \
  X(SoftwareValidityNotEstablished, 103, "software validity not established")                                         \
  X(StartupFailure, 127, "startup failure") X(InvalidKernelImage, 200, "device kernel image is invalid")              \
  X(DeviceUninitialized, 201, "device uninitialized") X(MapBufferObjectFailed, 205, "map buffer object failed")       \
  X(UnmapBufferObjectFailed, 206, "unmap buffer object failed") X(ArrayIsMapped, 207, "array is mapped")              \
  X(AlreadyMapped, 208, "already mapped")                                                                             \
  X(NoKernelImageForDevice, 209, "no kernel image is available for execution on the device")                          \
  X(AlreadyAcquired, 210, "already acquired") X(NotMapped, 211, "not mapped")                                         \
  X(NotMappedAsArray, 212, "not mapped as array") X(NotMappedAsPointer, 213, "not mapped as pointer")                 \
  X(ECCUncorrectable, 214, "uncorrectable ECC error encountered") X(UnsupportedLimit, 215, "unsupported limit")       \
  X(DeviceAlreadyInUse, 216, "device already in use")                                                                 \
  X(PeerAccessUnsupported, 217, "peer access is not supported between these two devices")                             \
  X(InvalidPtx, 218, "invalid ptx") X(InvalidGraphicsContext, 219, "invalid graphics context")                        \
  X(NvlinkUncorrectable, 220, "nvlink uncorrectable") X(JitCompilerNotFound, 221, "jit compiler not found")           \
  X(UnsupportedPtxVersion, 222, "unsupported ptx version")                                                            \
  X(JitCompilationDisabled, 223, "jit compilation disabled")                                                          \
  X(UnsupportedExecAffinity, 224, "unsupported exec affinity")                                                        \
  X(UnsupportedDevSideSync, 225, "unsupported dev side sync") X(Contained, 226, "contained")                          \
  X(InvalidSource, 300, "invalid source") X(FileNotFound, 301, "file not found")                                      \
  X(SharedObjectSymbolNotFound, 302, "shared object symbol not found")                                                \
  X(SharedObjectInitFailed, 303, "shared object init failed") X(OperatingSystem, 304, "operating system")             \
  X(InvalidResourceHandle, 400, "invalid resource handle") X(IllegalState, 401, "illegal state")                      \
  X(LossyQuery, 402, "lossy query") X(SymbolNotFound, 500, "named symbol not found")                                  \
  X(NotReady, 600, "device not ready") X(IllegalAddress, 700, "an illegal memory access was encountered")             \
  X(LaunchOutOfResources, 701, "too many resources requested for launch")                                             \
  X(LaunchTimeout, 702, "the launch timed out and was terminated")                                                    \
  X(LaunchIncompatibleTexturing, 703, "launch incompatible texturing")                                                \
  X(PeerAccessAlreadyEnabled, 704, "peer access is already enabled")                                                  \
  X(PeerAccessNotEnabled, 705, "peer access has not been enabled")                                                    \
  X(SetOnActiveProcess, 708, "cannot set while device is active in this process")                                     \
  X(ContextIsDestroyed, 709, "context is destroyed") X(Assert, 710, "device-side assert triggered")                   \
  X(TooManyPeers, 711, "too many peers")                                                                              \
  X(HostMemoryAlreadyRegistered, 712, "part or all of the requested memory range is already mapped")                  \
  X(HostMemoryNotRegistered, 713, "pointer does not correspond to a registered memory region")                        \
  X(HardwareStackError, 714, "hardware stack error") X(IllegalInstruction, 715, "illegal instruction")                \
  X(MisalignedAddress, 716, "misaligned address") X(InvalidAddressSpace, 717, "invalid address space")                \
  X(InvalidPc, 718, "invalid pc") X(LaunchFailure, 719, "unspecified launch failure")                                 \
  X(CooperativeLaunchTooLarge, 720, "too many blocks in cooperative launch")                                          \
  X(TensorMemoryLeak, 721, "tensor memory leak") X(NotPermitted, 800, "operation not permitted")                      \
  X(NotSupported, 801, "operation not supported") X(SystemNotReady, 802, "system not ready")                          \
  X(SystemDriverMismatch, 803, "system driver mismatch")                                                              \
  X(CompatNotSupportedOnDevice, 804, "compat not supported on device")                                                \
  X(MpsConnectionFailed, 805, "mps connection failed") X(MpsRpcFailure, 806, "mps rpc failure")                       \
  X(MpsServerNotReady, 807, "mps server not ready") X(MpsMaxClientsReached, 808, "mps max clients reached")           \
  X(MpsMaxConnectionsReached, 809, "mps max connections reached")                                                     \
  X(MpsClientTerminated, 810, "mps client terminated") X(CdpNotSupported, 811, "cdp not supported")                   \
  X(CdpVersionMismatch, 812, "cdp version mismatch") X(StreamCaptureUnsupported, 900, "stream capture unsupported")   \
  X(StreamCaptureInvalidated, 901, "stream capture invalidated") X(StreamCaptureMerge, 902, "stream capture merge")   \
  X(StreamCaptureUnmatched, 903, "stream capture unmatched")                                                          \
  X(StreamCaptureUnjoined, 904, "stream capture unjoined")                                                            \
  X(StreamCaptureIsolation, 905, "stream capture isolation")                                                          \
  X(StreamCaptureImplicit, 906, "stream capture implicit") X(CapturedEvent, 907, "captured event")                    \
  X(StreamCaptureWrongThread, 908, "stream capture wrong thread") X(Timeout, 909, "timeout")                          \
  X(GraphExecUpdateFailure, 910, "graph exec update failure") X(ExternalDevice, 911, "external device")               \
  X(InvalidClusterSize, 912, "invalid cluster size") X(FunctionNotLoaded, 913, "function not loaded")                 \
  X(InvalidResourceType, 914, "invalid resource type")                                                                \
  X(InvalidResourceConfiguration, 915, "invalid resource configuration") X(Unknown, 999, "unknown error")             \
  X(ApiFailureBase, 10000, "api failure base")
// clang-format on

enum cudaError : int {
  cudaSuccess = 0,
#define BANKWISE_ENUMERATOR(name, number, text) cudaError##name = number,
  BANKWISE_CUDA_ERRORS(BANKWISE_ENUMERATOR)
#undef BANKWISE_ENUMERATOR
};
using cudaError_t = cudaError;

namespace bankwise::emulator::runtime {

/// Sets what cudaGetLastError() returns, and returns it. A fault of a kernel is `sticky`: it stays, as on a GPU.
cudaError_t failed(cudaError_t error, bool sticky = false);
/// The sticky error, or cudaSuccess.
cudaError_t lasting_error();

/// A function of CUDA that succeeds and returns a value.
template <class T, class Value>
cudaError_t give(T* to, Value value) {
  *to = T(value);
  return cudaSuccess;
}

}  // namespace bankwise::emulator::runtime
namespace bankwise_runtime = bankwise::emulator::runtime;

const char* cudaGetErrorName(cudaError_t error);
const char* cudaGetErrorString(cudaError_t error);
cudaError_t cudaGetLastError();
cudaError_t cudaPeekAtLastError();

// --- Types ---

#define CUDART_VERSION 12080
#define CUDA_VERSION 12080
#define CUDART_CB
// By these guards of CUDA's headers the samples' helper_cuda.h knows what has been included; headers next to them that
// are not replaced do not include them.
#define __CUDA_RUNTIME_H__
#define __CUDA_RUNTIME_API_H__
#define __CUDA_DEVICE_RUNTIME_API_H__
#define __CHANNEL_DESCRIPTOR_H__
#define __DEVICE_TYPES_H__
#define __DRIVER_TYPES_H__
#define __SURFACE_TYPES_H__
#define __TEXTURE_TYPES_H__
#define __VECTOR_FUNCTIONS_H__
#define __VECTOR_TYPES_H__

/// Streams and events. Everything that a program gives to a stream is done before the call returns, unless the stream
/// captures (captures.hpp).
struct CUstream_st;
using cudaStream_t = CUstream_st*;
struct CUevent_st;
using cudaEvent_t = CUevent_st*;
#define cudaStreamLegacy (reinterpret_cast<cudaStream_t>(1))
#define cudaStreamPerThread (reinterpret_cast<cudaStream_t>(2))
#define cudaStreamDefault 0  // also stands for a stream
#define cudaStreamNonBlocking 1

// clang-format off
enum cudaStreamCaptureMode {
  cudaStreamCaptureModeGlobal, cudaStreamCaptureModeThreadLocal, cudaStreamCaptureModeRelaxed
};
enum cudaStreamCaptureStatus {
  cudaStreamCaptureStatusNone, cudaStreamCaptureStatusActive, cudaStreamCaptureStatusInvalidated
};
enum cudaGraphNodeType {
  cudaGraphNodeTypeKernel, cudaGraphNodeTypeMemcpy, cudaGraphNodeTypeMemset, cudaGraphNodeTypeHost,
  cudaGraphNodeTypeGraph, cudaGraphNodeTypeEmpty, cudaGraphNodeTypeWaitEvent, cudaGraphNodeTypeEventRecord,
  cudaGraphNodeTypeMemAlloc = 10, cudaGraphNodeTypeMemFree, cudaGraphNodeTypeConditional = 13
};

enum cudaMemcpyKind {
  cudaMemcpyHostToHost, cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice, cudaMemcpyDefault
};

enum : unsigned {
  cudaEventDefault = 0, cudaEventBlockingSync = 1, cudaEventDisableTiming = 2, cudaEventInterprocess = 4,
  cudaEventRecordDefault = 0, cudaEventRecordExternal = 1, cudaEventWaitDefault = 0, cudaEventWaitExternal = 1,
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
enum cudaMemAllocationType { cudaMemAllocationTypeInvalid, cudaMemAllocationTypePinned };
enum cudaMemAllocationHandleType { cudaMemHandleTypeNone, cudaMemHandleTypePosixFileDescriptor };
struct cudaMemPoolProps {
  cudaMemAllocationType allocType;
  cudaMemAllocationHandleType handleTypes;
  cudaMemLocation location;
  void* win32SecurityAttributes;
  size_t maxSize;
  unsigned short usage;
};
enum cudaMemAccessFlags { cudaMemAccessFlagsProtNone, cudaMemAccessFlagsProtRead, cudaMemAccessFlagsProtReadWrite = 3 };
struct cudaMemAccessDesc { cudaMemLocation location; cudaMemAccessFlags flags; };
enum cudaMemPoolAttr {
  cudaMemPoolReuseFollowEventDependencies = 1, cudaMemPoolReuseAllowOpportunistic,
  cudaMemPoolReuseAllowInternalDependencies, cudaMemPoolAttrReleaseThreshold, cudaMemPoolAttrReservedMemCurrent,
  cudaMemPoolAttrReservedMemHigh, cudaMemPoolAttrUsedMemCurrent, cudaMemPoolAttrUsedMemHigh
};
using cudaMemPool_t = struct CUmemPoolHandle_st*;

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
