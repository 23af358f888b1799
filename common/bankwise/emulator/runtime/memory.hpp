// SPDX-License-Identifier: MIT
//
// Device, managed and pinned memory, and copies. What a program frees twice or copies out of bounds is reported with
// the line that allocated the memory.
#pragma once

#include <bankwise/emulator/runtime/types.hpp>

namespace bankwise::emulator::runtime {

enum class MemoryKind { device, managed, pinned };

// The work of CUDA's `function`. Reports name the caller's line, so CUDA's functions are inlined into the program.
cudaError_t allocate_for(const char* function, void** pointer, MemoryKind kind, size_t bytes);
constexpr size_t pitch_of(size_t width) { return (width + 511) / 512 * 512; }
cudaError_t free_for(const char* function, void* pointer, bool host);
cudaError_t copy_rows(const char* function, void* to, size_t to_pitch, const void* from, size_t from_pitch,
                      size_t width, size_t height, cudaMemcpyKind kind);
cudaError_t set_rows(const char* function, void* to, size_t pitch, int value, size_t width, size_t height);
/// Copies to or from a variable of the device.
cudaError_t copy_symbol(const volatile void* symbol, size_t symbol_bytes, const void* other, size_t bytes,
                        size_t offset, bool to_symbol);

}  // namespace bankwise::emulator::runtime

// CUDA's form, and the one for typed pointers.
#define BANKWISE_ALLOCATION(kind, name, ...)                                                          \
  BANKWISE_DEVICE cudaError_t name(void** pointer, __VA_ARGS__) {                                     \
    return bankwise_runtime::allocate_for(#name, pointer, bankwise_runtime::MemoryKind::kind, bytes); \
  }                                                                                                   \
  template <class T>                                                                                  \
  BANKWISE_DEVICE cudaError_t name(T** pointer, __VA_ARGS__) {                                        \
    void** const any = reinterpret_cast<void**>(reinterpret_cast<void*>(pointer));                    \
    return bankwise_runtime::allocate_for(#name, any, bankwise_runtime::MemoryKind::kind, bytes);     \
  }
BANKWISE_ALLOCATION(device, cudaMalloc, size_t bytes)
BANKWISE_ALLOCATION(device, cudaMallocAsync, size_t bytes, cudaStream_t)
BANKWISE_ALLOCATION(managed, cudaMallocManaged, size_t bytes, unsigned = cudaMemAttachGlobal)
BANKWISE_ALLOCATION(pinned, cudaMallocHost, size_t bytes, unsigned = cudaHostAllocDefault)
BANKWISE_ALLOCATION(pinned, cudaHostAlloc, size_t bytes, unsigned)
#undef BANKWISE_ALLOCATION

BANKWISE_DEVICE cudaError_t cudaMalloc3D(cudaPitchedPtr* pointer, cudaExtent extent) {
  *pointer = {nullptr, bankwise_runtime::pitch_of(extent.width), extent.width, extent.height};
  return bankwise_runtime::allocate_for(__func__, &pointer->ptr, bankwise_runtime::MemoryKind::device,
                                        pointer->pitch * extent.height * extent.depth);
}
BANKWISE_DEVICE cudaError_t cudaMallocPitch(void** pointer, size_t* pitch, size_t width, size_t height) {
  *pitch = bankwise_runtime::pitch_of(width);
  return bankwise_runtime::allocate_for(__func__, pointer, bankwise_runtime::MemoryKind::device, *pitch * height);
}
template <class T>
BANKWISE_DEVICE cudaError_t cudaMallocPitch(T** pointer, size_t* pitch, size_t width, size_t height) {
  return cudaMallocPitch(reinterpret_cast<void**>(reinterpret_cast<void*>(pointer)), pitch, width, height);
}
BANKWISE_DEVICE cudaError_t cudaFree(void* p) { return bankwise_runtime::free_for(__func__, p, false); }
BANKWISE_DEVICE cudaError_t cudaFreeAsync(void* p, cudaStream_t) {
  return bankwise_runtime::free_for(__func__, p, false);
}
BANKWISE_DEVICE cudaError_t cudaFreeHost(void* p) { return bankwise_runtime::free_for(__func__, p, true); }

inline cudaError_t cudaHostRegister(void* pointer, size_t bytes, unsigned) {
  return bankwise_runtime::failed(pointer == nullptr || bytes == 0 ? cudaErrorInvalidValue : cudaSuccess);
}
inline cudaError_t cudaHostUnregister(void* pointer) {
  return bankwise_runtime::failed(pointer == nullptr ? cudaErrorInvalidValue : cudaSuccess);
}
template <class T>
cudaError_t cudaHostGetDevicePointer(T** device, void* host, unsigned) {
  *device = static_cast<T*>(host);
  return cudaHostUnregister(host);
}
inline cudaError_t cudaHostGetFlags(unsigned* flags, void*) {
  return bankwise_runtime::give(flags, cudaHostAllocMapped);
}
cudaError_t cudaMemGetInfo(size_t* free, size_t* total);
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer);
inline cudaError_t cudaMemPrefetchAsync(const void*, size_t, int, cudaStream_t = nullptr) {
  return bankwise_runtime::lasting_error();
}
inline cudaError_t cudaMemPrefetchAsync(const void*, size_t, cudaMemLocation, unsigned, cudaStream_t = nullptr) {
  return bankwise_runtime::lasting_error();
}
template <class Location>  // an int, or a cudaMemLocation
cudaError_t cudaMemAdvise(const void*, size_t, cudaMemoryAdvise, Location) {
  return bankwise_runtime::lasting_error();
}

BANKWISE_DEVICE cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  return bankwise_runtime::copy_rows(__func__, to, bytes, from, bytes, bytes, 1, kind);
}
BANKWISE_DEVICE cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                                            cudaStream_t = nullptr) {
  return bankwise_runtime::copy_rows(__func__, to, bytes, from, bytes, bytes, 1, kind);
}
BANKWISE_DEVICE cudaError_t cudaMemcpyPeer(void* to, int, const void* from, int, size_t bytes) {
  return bankwise_runtime::copy_rows(__func__, to, bytes, from, bytes, bytes, 1, cudaMemcpyDeviceToDevice);
}
BANKWISE_DEVICE cudaError_t cudaMemcpyPeerAsync(void* to, int, const void* from, int, size_t bytes,
                                                cudaStream_t = nullptr) {
  return bankwise_runtime::copy_rows(__func__, to, bytes, from, bytes, bytes, 1, cudaMemcpyDeviceToDevice);
}
BANKWISE_DEVICE cudaError_t cudaMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                                         size_t height, cudaMemcpyKind kind) {
  return bankwise_runtime::copy_rows(__func__, to, to_pitch, from, from_pitch, width, height, kind);
}
BANKWISE_DEVICE cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch,
                                              size_t width, size_t height, cudaMemcpyKind kind,
                                              cudaStream_t = nullptr) {
  return bankwise_runtime::copy_rows(__func__, to, to_pitch, from, from_pitch, width, height, kind);
}
BANKWISE_DEVICE cudaError_t cudaMemset(void* to, int value, size_t bytes) {
  return bankwise_runtime::set_rows(__func__, to, bytes, value, bytes, 1);
}
BANKWISE_DEVICE cudaError_t cudaMemsetAsync(void* to, int value, size_t bytes, cudaStream_t = nullptr) {
  return bankwise_runtime::set_rows(__func__, to, bytes, value, bytes, 1);
}
BANKWISE_DEVICE cudaError_t cudaMemset2D(void* to, size_t pitch, int value, size_t width, size_t height) {
  return bankwise_runtime::set_rows(__func__, to, pitch, value, width, height);
}
BANKWISE_DEVICE cudaError_t cudaMemset2DAsync(void* to, size_t pitch, int value, size_t width, size_t height,
                                              cudaStream_t = nullptr) {
  return bankwise_runtime::set_rows(__func__, to, pitch, value, width, height);
}
BANKWISE_DEVICE cudaError_t cudaMemset3D(cudaPitchedPtr to, int value, cudaExtent extent) {
  return bankwise_runtime::set_rows(__func__, to.ptr, to.pitch, value, extent.width, to.ysize * extent.depth);
}
BANKWISE_DEVICE cudaError_t cudaMemset3DAsync(cudaPitchedPtr to, int value, cudaExtent extent, cudaStream_t = nullptr) {
  return bankwise_runtime::set_rows(__func__, to.ptr, to.pitch, value, extent.width, to.ysize * extent.depth);
}

#define BANKWISE_SYMBOL reinterpret_cast<const volatile void*>(&symbol)
template <class T>
BANKWISE_DEVICE cudaError_t cudaMemcpyToSymbol(const T& symbol, const void* from, size_t bytes, size_t offset = 0,
                                               cudaMemcpyKind = cudaMemcpyHostToDevice) {
  return bankwise_runtime::copy_symbol(BANKWISE_SYMBOL, sizeof symbol, from, bytes, offset, true);
}
template <class T>
BANKWISE_DEVICE cudaError_t cudaMemcpyToSymbolAsync(const T& symbol, const void* from, size_t bytes, size_t offset = 0,
                                                    cudaMemcpyKind = cudaMemcpyHostToDevice, cudaStream_t = nullptr) {
  return cudaMemcpyToSymbol(symbol, from, bytes, offset);
}
template <class T>
BANKWISE_DEVICE cudaError_t cudaMemcpyFromSymbol(void* to, const T& symbol, size_t bytes, size_t offset = 0,
                                                 cudaMemcpyKind = cudaMemcpyDeviceToHost) {
  return bankwise_runtime::copy_symbol(BANKWISE_SYMBOL, sizeof symbol, to, bytes, offset, false);
}
template <class T>
BANKWISE_DEVICE cudaError_t cudaMemcpyFromSymbolAsync(void* to, const T& symbol, size_t bytes, size_t offset = 0,
                                                      cudaMemcpyKind = cudaMemcpyDeviceToHost, cudaStream_t = nullptr) {
  return cudaMemcpyFromSymbol(to, symbol, bytes, offset);
}
template <class P, class T>
cudaError_t cudaGetSymbolAddress(P** pointer, const T& symbol) {
  return bankwise_runtime::give(pointer, static_cast<P*>(const_cast<void*>(BANKWISE_SYMBOL)));
}
template <class T>
cudaError_t cudaGetSymbolSize(size_t* bytes, const T& symbol) {
  return bankwise_runtime::give(bytes, sizeof symbol);
}
#undef BANKWISE_SYMBOL
