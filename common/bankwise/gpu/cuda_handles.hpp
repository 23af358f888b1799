// SPDX-License-Identifier: MIT
//
// CUDA's resources, released when their owner ends. Only in a build with CUDA.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>
#include <type_traits>

#include <bankwise/gpu/cuda_api.hpp>

namespace bankwise::gpu {

struct Free {
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
using Memory = std::unique_ptr<void, Free>;
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
