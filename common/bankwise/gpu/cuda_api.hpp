// CUDA's errors, and its resources, released when their owner ends. Only in a build with CUDA.
// nvcc reads this header, too. It cannot compile fmt's compile-time checks, so this header does not include fmt.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>
#include <string_view>
#include <type_traits>

#include <bankwise/gpu/error.hpp>

namespace bankwise::gpu {

/// Throws gpu::Error unless `code` is success.
void check_cuda(cudaError_t code, std::string_view call, CallSite where = CallSite::here());

/// For destructors.
void log_cuda(cudaError_t code, std::string_view call) noexcept;

/// A function of the driver of CUDA `version` or newer (11070: 11.7), by which nothing is linked with the driver, which
/// may be absent. Null if the driver lacks it. Error: gpu::Error.
void* driver_function(const char* name, unsigned version);

/// Throws gpu::Error unless the call succeeds. A macro because only a macro can quote the call.
#define BANKWISE_CUDA(call) ::bankwise::gpu::check_cuda((call), #call)

struct FreeMemory {
  void operator()(void* memory) const noexcept { log_cuda(cudaFree(memory), "cudaFree"); }
};
struct FreeHost {
  void operator()(std::byte* memory) const noexcept { log_cuda(cudaFreeHost(memory), "cudaFreeHost"); }
};
struct DestroyStream {
  void operator()(cudaStream_t stream) const noexcept { log_cuda(cudaStreamDestroy(stream), "cudaStreamDestroy"); }
};
struct DestroyEvent {
  void operator()(cudaEvent_t event) const noexcept { log_cuda(cudaEventDestroy(event), "cudaEventDestroy"); }
};
using Memory = std::unique_ptr<void, FreeMemory>;
using PinnedMemory = std::unique_ptr<std::byte, FreeHost>;
using Stream = std::unique_ptr<std::remove_pointer_t<cudaStream_t>, DestroyStream>;
using Event = std::unique_ptr<std::remove_pointer_t<cudaEvent_t>, DestroyEvent>;

inline Memory make_memory(std::uint64_t bytes) {
  void* memory = nullptr;
  BANKWISE_CUDA(cudaMalloc(&memory, bytes));
  return Memory(memory);
}

/// Host memory from which and to which copies run at the link's full rate.
inline PinnedMemory make_pinned_memory(std::uint64_t bytes) {
  void* memory = nullptr;
  BANKWISE_CUDA(cudaMallocHost(&memory, bytes));
  return PinnedMemory(static_cast<std::byte*>(memory));
}

/// A stream that does not wait for the default stream. Lower numbers are higher priorities.
inline Stream make_stream(int priority = 0) {
  cudaStream_t stream = nullptr;
  BANKWISE_CUDA(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, priority));
  return Stream(stream);
}

inline Event make_event(unsigned flags = cudaEventDefault) {
  cudaEvent_t event = nullptr;
  BANKWISE_CUDA(cudaEventCreateWithFlags(&event, flags));
  return Event(event);
}

}  // namespace bankwise::gpu
