#include <bankwise/emulator/runtime/device.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <optional>

#include <bankwise/emulator/runtime/captures.hpp>
#include <bankwise/emulator/runtime/messages.hpp>
#include <bankwise/emulator/runtime/repeats.hpp>

using namespace bankwise::emulator::runtime;

namespace {

cudaDeviceProp properties_of(const bankwise::banks::GpuModel& gpu) {
  cudaDeviceProp p{};
  gpu.name.copy(p.name, sizeof p.name - 1);
  p.totalGlobalMem = std::size_t(gpu.memory_gib) << 30;
  p.sharedMemPerBlock = 48 << 10;
  p.sharedMemPerBlockOptin = gpu.multiprocessor.per_block;
  p.sharedMemPerMultiprocessor = gpu.multiprocessor.shared;
  p.reservedSharedMemPerBlock = gpu.multiprocessor.reserved;
  p.regsPerBlock = p.regsPerMultiprocessor = 65536;
  p.warpSize = 32;
  if (const unsigned wave = wave_of_program(); wave != 0) {
    p.warpSize = int(wave);
    gpu.name.copy(p.gcnArchName, sizeof p.gcnArchName - 1);
    p.sharedMemPerBlock = gpu.multiprocessor.per_block;
    p.maxSharedMemoryPerMultiProcessor = gpu.multiprocessor.shared;
    p.hostNativeAtomicSupported = 1;
    const bool is_cdna_3 = gpu.name.starts_with("gfx94") || gpu.name.starts_with("gfx95");  // or newer
    p.imageSupport = is_cdna_3 ? 0 : 1;
  }
  p.memPitch = 0x7FFFFFFF;
  p.maxThreadsPerBlock = 1024;
  const int block[]{1024, 1024, 64}, grid[]{0x7FFFFFFF, 65535, 65535};
  std::copy(block, block + 3, p.maxThreadsDim);
  std::copy(grid, grid + 3, p.maxGridSize);
  p.clockRate = gpu.clock_khz;
  p.memoryClockRate = gpu.memory_khz;
  p.memoryBusWidth = gpu.bus_bits;
  p.totalConstMem = 64 << 10;
  p.major = gpu.major;
  p.minor = gpu.minor;
  p.multiProcessorCount = gpu.multiprocessors;
  p.maxThreadsPerMultiProcessor = int(gpu.multiprocessor.threads.value_or(0));
  p.maxBlocksPerMultiProcessor = int(gpu.multiprocessor.blocks.value_or(0));
  p.l2CacheSize = int(gpu.l2_kib << 10);
  p.persistingL2CacheMaxSize = gpu.major >= 8 ? int(gpu.l2_kib << 10) / 4 * 3 : 0;
  p.textureAlignment = 512;
  p.texturePitchAlignment = 32;
  p.surfaceAlignment = 512;
  p.maxTexture1D = p.maxTexture2D[0] = 131072;
  p.maxTexture2D[1] = 65536;
  for (int& extent : p.maxTexture3D) extent = 16384;
  p.deviceOverlap = p.canMapHostMemory = p.concurrentKernels = p.unifiedAddressing = p.managedMemory = 1;
  p.streamPrioritiesSupported = p.globalL1CacheSupported = p.localL1CacheSupported = 1;
  p.concurrentManagedAccess = p.computePreemptionSupported = p.cooperativeLaunch = p.memoryPoolsSupported = 1;
  p.canUseHostPointerForRegisteredMem = p.hostRegisterSupported = 1;
  p.asyncEngineCount = 3;
  p.singleToDoublePrecisionPerfRatio = 2;
  p.pciBusID = 1;
  return p;
}

unsigned device_flags = 0;
constexpr std::size_t limits[]{1024, 1 << 20, 8 << 20, 2, 2048, 128, 0};

bool is_object(cudaStream_t stream) {
  return stream != nullptr && stream != cudaStreamLegacy && stream != cudaStreamPerThread;
}

}  // namespace

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  *properties = properties_of(this_gpu());
  return cudaSetDevice(device);
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  const cudaDeviceProp properties = properties_of(this_gpu());
  switch (attribute) {
#define BANKWISE_CASE(name, number, member) \
  case cudaDevAttr##name: *value = int(properties.member); return cudaSetDevice(device);
    BANKWISE_CUDA_DEVICE_ATTRIBUTES(BANKWISE_CASE)
#undef BANKWISE_CASE
  }
  return failed(cudaErrorInvalidValue);
}
cudaError_t cudaDeviceGetPCIBusId(char* id, int length, int device) {
  std::snprintf(id, std::size_t(std::max(length, 0)), "0000:01:00.0");
  return cudaSetDevice(device);
}
cudaError_t cudaSetDeviceFlags(unsigned flags) {
  device_flags = flags;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceFlags(unsigned* flags) { return give(flags, device_flags); }
cudaError_t cudaDeviceGetLimit(size_t* value, cudaLimit limit) {
  if (unsigned(limit) >= std::size(limits)) return failed(cudaErrorInvalidValue);
  return give(value, limits[limit]);
}

// --- Streams and events ---

using Clock = std::chrono::steady_clock;

struct CUstream_st {
  unsigned flags = 0;
  int priority = 0;
};

struct CUevent_st {
  bool times = true;
  std::optional<Clock::time_point> recorded;
};

cudaError_t bankwise::emulator::runtime::record(cudaEvent_t event) {
  const std::chrono::duration<double> saved(seconds_saved());
  event->recorded = Clock::now() + std::chrono::duration_cast<Clock::duration>(saved);
  return lasting_error();
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority) {
  if (stream == nullptr) return failed(cudaErrorInvalidValue);
  *stream = new CUstream_st{flags, priority};
  return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  if (!is_object(stream)) return failed(cudaErrorInvalidResourceHandle);
  delete stream;
  return cudaSuccess;
}
cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority) {
  return give(priority, is_object(stream) ? stream->priority : 0);
}
cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned* flags) {
  return give(flags, is_object(stream) ? stream->flags : 0);
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  if (event == nullptr) return failed(cudaErrorInvalidValue);
  *event = new CUevent_st{(flags & cudaEventDisableTiming) == 0, {}};
  return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  if (event == nullptr) return failed(cudaErrorInvalidResourceHandle);
  forget_capture_of(event);
  delete event;
  return cudaSuccess;
}
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags) {
  if (event == nullptr) return failed(cudaErrorInvalidResourceHandle);
  const bool external = (flags & cudaEventRecordExternal) != 0;
  if (!external && is_capturing(stream)) return record_in_capture(event, stream);
  forget_capture_of(event);
  return give_to(stream, cudaGraphNodeTypeEventRecord, [=] { return record(event); });
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
  if (event == nullptr) return failed(cudaErrorInvalidResourceHandle);
  if ((flags & cudaEventWaitExternal) != 0) return give_to(stream, cudaGraphNodeTypeWaitEvent, lasting_error);
  if (is_captured(event)) return wait_in_capture(stream, event);
  if (event->recorded && is_capturing(stream)) {
    return refuse_while_capturing(stream, cudaErrorStreamCaptureIsolation);  // for work that is not in the graph
  }
  return lasting_error();
}
cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void* data, unsigned) {
  const cudaError_t error = wait_for(stream);
  if (is_capturing(stream)) return error;
  callback(stream, error, data);
  return cudaSuccess;
}
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data) {
  return give_to(stream, cudaGraphNodeTypeHost, [=] {
    function(data);
    return cudaSuccess;
  });
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t from, cudaEvent_t to) {
  if (is_captured(from) || is_captured(to)) return failed(cudaErrorCapturedEvent);
  if (from == nullptr || to == nullptr || !from->times || !to->times || !from->recorded || !to->recorded) {
    return failed(cudaErrorInvalidResourceHandle);
  }
  *milliseconds = std::chrono::duration<float, std::milli>(*to->recorded - *from->recorded).count();
  return cudaSuccess;
}
