// SPDX-License-Identifier: MIT
//
// Device, managed and pinned memory, and copies. What a program frees twice or copies out of bounds is reported with
// the line that allocated the memory.
#pragma once

#include <bankwise/emulator/runtime/types.hpp>

cudaError_t cudaMalloc(void** pointer, size_t bytes);
cudaError_t cudaMallocAsync(void** pointer, size_t bytes, cudaStream_t stream);
cudaError_t cudaMallocManaged(void** pointer, size_t bytes, unsigned flags = cudaMemAttachGlobal);
cudaError_t cudaMallocHost(void** pointer, size_t bytes, unsigned flags = cudaHostAllocDefault);
cudaError_t cudaHostAlloc(void** pointer, size_t bytes, unsigned flags);
cudaError_t cudaMallocPitch(void** pointer, size_t* pitch, size_t width, size_t height);
cudaError_t cudaMalloc3D(cudaPitchedPtr* pointer, cudaExtent extent);
cudaError_t cudaFree(void* pointer);
cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream);
cudaError_t cudaFreeHost(void* pointer);
cudaError_t cudaHostRegister(void* pointer, size_t bytes, unsigned flags);
cudaError_t cudaHostUnregister(void* pointer);
cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned flags);
cudaError_t cudaHostGetFlags(unsigned* flags, void* host);
cudaError_t cudaMemGetInfo(size_t* free, size_t* total);
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer);
cudaError_t cudaMemPrefetchAsync(const void* pointer, size_t bytes, int device, cudaStream_t stream = nullptr);
cudaError_t cudaMemPrefetchAsync(const void* pointer, size_t bytes, cudaMemLocation location, unsigned flags,
                                 cudaStream_t stream = nullptr);
cudaError_t cudaMemAdvise(const void* pointer, size_t bytes, cudaMemoryAdvise advice, int device);
cudaError_t cudaMemAdvise(const void* pointer, size_t bytes, cudaMemoryAdvise advice, cudaMemLocation location);

cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind);
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream = nullptr);
cudaError_t cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device, size_t bytes);
cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device, size_t bytes,
                                cudaStream_t stream = nullptr);
cudaError_t cudaMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height,
                         cudaMemcpyKind kind);
cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                              size_t height, cudaMemcpyKind kind, cudaStream_t stream = nullptr);
cudaError_t cudaMemset(void* to, int value, size_t bytes);
cudaError_t cudaMemsetAsync(void* to, int value, size_t bytes, cudaStream_t stream = nullptr);
cudaError_t cudaMemset2D(void* to, size_t pitch, int value, size_t width, size_t height);
cudaError_t cudaMemset2DAsync(void* to, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t stream = nullptr);
cudaError_t cudaMemset3D(cudaPitchedPtr to, int value, cudaExtent extent);
cudaError_t cudaMemset3DAsync(cudaPitchedPtr to, int value, cudaExtent extent, cudaStream_t stream = nullptr);

// CUDA's forms for typed pointers. Inlined, because the caller's line is part of messages.
#define BANKWISE_FOR_TYPED(name, parameters, arguments) \
  template <class T>                                    \
  BANKWISE_DEVICE cudaError_t name parameters {         \
    return name arguments;                              \
  }
#define BANKWISE_ANY reinterpret_cast<void**>(reinterpret_cast<void*>(pointer))
BANKWISE_FOR_TYPED(cudaMalloc, (T * *pointer, size_t bytes), (BANKWISE_ANY, bytes))
BANKWISE_FOR_TYPED(cudaMallocAsync, (T * *pointer, size_t bytes, cudaStream_t stream), (BANKWISE_ANY, bytes, stream))
BANKWISE_FOR_TYPED(cudaMallocManaged, (T * *pointer, size_t bytes, unsigned flags = cudaMemAttachGlobal),
                   (BANKWISE_ANY, bytes, flags))
BANKWISE_FOR_TYPED(cudaMallocHost, (T * *pointer, size_t bytes, unsigned flags = cudaHostAllocDefault),
                   (BANKWISE_ANY, bytes, flags))
BANKWISE_FOR_TYPED(cudaHostAlloc, (T * *pointer, size_t bytes, unsigned flags), (BANKWISE_ANY, bytes, flags))
BANKWISE_FOR_TYPED(cudaMallocPitch, (T * *pointer, size_t* pitch, size_t width, size_t height),
                   (BANKWISE_ANY, pitch, width, height))
BANKWISE_FOR_TYPED(cudaHostGetDevicePointer, (T * *pointer, void* host, unsigned flags), (BANKWISE_ANY, host, flags))
#undef BANKWISE_ANY
#undef BANKWISE_FOR_TYPED

namespace bankwise::emulator::runtime {

/// Copies to or from a variable of the device. `caller` is the address of the call in the program.
cudaError_t copy_symbol(void* symbol, size_t symbol_bytes, void* other, size_t bytes, size_t offset, bool to_symbol);

}  // namespace bankwise::emulator::runtime

#define BANKWISE_SYMBOL const_cast<void*>(reinterpret_cast<const volatile void*>(&symbol))
template <class T>
BANKWISE_DEVICE cudaError_t cudaMemcpyToSymbol(const T& symbol, const void* from, size_t bytes, size_t offset = 0,
                                               cudaMemcpyKind = cudaMemcpyHostToDevice) {
  return bankwise::emulator::runtime::copy_symbol(BANKWISE_SYMBOL, sizeof symbol, const_cast<void*>(from), bytes,
                                                  offset, true);
}
template <class T>
BANKWISE_DEVICE cudaError_t cudaMemcpyToSymbolAsync(const T& symbol, const void* from, size_t bytes, size_t offset = 0,
                                                    cudaMemcpyKind = cudaMemcpyHostToDevice, cudaStream_t = nullptr) {
  return bankwise::emulator::runtime::copy_symbol(BANKWISE_SYMBOL, sizeof symbol, const_cast<void*>(from), bytes,
                                                  offset, true);
}
template <class T>
BANKWISE_DEVICE cudaError_t cudaMemcpyFromSymbol(void* to, const T& symbol, size_t bytes, size_t offset = 0,
                                                 cudaMemcpyKind = cudaMemcpyDeviceToHost) {
  return bankwise::emulator::runtime::copy_symbol(BANKWISE_SYMBOL, sizeof symbol, to, bytes, offset, false);
}
template <class T>
BANKWISE_DEVICE cudaError_t cudaMemcpyFromSymbolAsync(void* to, const T& symbol, size_t bytes, size_t offset = 0,
                                                      cudaMemcpyKind = cudaMemcpyDeviceToHost, cudaStream_t = nullptr) {
  return bankwise::emulator::runtime::copy_symbol(BANKWISE_SYMBOL, sizeof symbol, to, bytes, offset, false);
}
template <class P, class T>
cudaError_t cudaGetSymbolAddress(P** pointer, const T& symbol) {
  *pointer = static_cast<P*>(BANKWISE_SYMBOL);
  return cudaSuccess;
}
template <class T>
cudaError_t cudaGetSymbolSize(size_t* bytes, const T& symbol) {
  *bytes = sizeof symbol;
  return cudaSuccess;
}
#undef BANKWISE_SYMBOL
