// Device, managed and pinned memory, and copies. What is freed twice or copied out of bounds is reported with its line.
#pragma once

#include <bankwise/emulator/runtime/types.hpp>

namespace bankwise::emulator::runtime {

/// While it exists, the host may access device memory, as a function of a library.
class LibraryCall {
 public:
  LibraryCall();
  LibraryCall(const LibraryCall&) = delete;
  LibraryCall& operator=(const LibraryCall&) = delete;
  ~LibraryCall();
};

enum class MemoryKind { device, managed, pinned };

// The work of CUDA's `function`. Reports name the caller's line, so CUDA's functions are inlined into the program.
cudaError_t allocate_for(const char* function, void** pointer, MemoryKind kind, size_t bytes);
/// What a graph allocates has its address at once, and exists from where the graph runs to where it is freed.
cudaError_t allocate_in_order(const char* function, void** pointer, size_t bytes, cudaStream_t stream);
constexpr size_t pitch_of(size_t width) { return (width + 511) / 512 * 512; }
cudaError_t free_for(const char* function, void* pointer, bool host);
cudaError_t free_in_order(const char* function, void* pointer, cudaStream_t stream);
cudaError_t copy_rows(const char* function, void* to, size_t to_pitch, const void* from, size_t from_pitch,
                      size_t width, size_t height, cudaMemcpyKind kind, cudaStream_t stream = nullptr);
cudaError_t set_rows(const char* function, void* to, size_t pitch, int value, size_t width, size_t height,
                     cudaStream_t stream = nullptr);
cudaMemPool_t default_pool();
cudaError_t pool_attribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value, bool sets);
/// Copies to or from a variable of the device.
cudaError_t copy_symbol(const volatile void* symbol, size_t symbol_bytes, const void* other, size_t bytes,
                        size_t offset, bool to_symbol, cudaStream_t stream = nullptr);

}  // namespace bankwise::emulator::runtime

// CUDA's form, and the one for typed pointers. HIP has more such functions (hip/program.hpp).
#define BANKWISE_ALLOCATION_BY(name, parameters, ...)                                \
  BANKWISE_DEVICE cudaError_t name(void** pointer, BANKWISE_LISTED parameters) {     \
    return bankwise_runtime::__VA_ARGS__;                                            \
  }                                                                                  \
  template <class T>                                                                 \
  BANKWISE_DEVICE cudaError_t name(T** typed, BANKWISE_LISTED parameters) {          \
    void** const pointer = reinterpret_cast<void**>(reinterpret_cast<void*>(typed)); \
    return bankwise_runtime::__VA_ARGS__;                                            \
  }
#define BANKWISE_ALLOCATION(kind, name, ...) \
  BANKWISE_ALLOCATION_BY(name, (__VA_ARGS__), allocate_for(#name, pointer, bankwise_runtime::MemoryKind::kind, bytes))
BANKWISE_ALLOCATION(device, cudaMalloc, size_t bytes)
BANKWISE_ALLOCATION_BY(cudaMallocAsync, (size_t bytes, cudaStream_t stream),
                       allocate_in_order("cudaMallocAsync", pointer, bytes, stream))
BANKWISE_ALLOCATION_BY(cudaMallocFromPoolAsync, (size_t bytes, cudaMemPool_t, cudaStream_t stream),
                       allocate_in_order("cudaMallocFromPoolAsync", pointer, bytes, stream))
BANKWISE_ALLOCATION(managed, cudaMallocManaged, size_t bytes, unsigned = cudaMemAttachGlobal)
BANKWISE_ALLOCATION(pinned, cudaMallocHost, size_t bytes, unsigned = cudaHostAllocDefault)
BANKWISE_ALLOCATION(pinned, cudaHostAlloc, size_t bytes, unsigned)

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
BANKWISE_RUNTIME(cudaFree, (void* p), free_for(__func__, p, false))
BANKWISE_RUNTIME(cudaFreeAsync, (void* p, cudaStream_t stream), free_in_order(__func__, p, stream))
BANKWISE_RUNTIME(cudaFreeHost, (void* p), free_for(__func__, p, true))

BANKWISE_RUNTIME(cudaHostRegister, (void* pointer, size_t bytes, unsigned),
                 failed(pointer == nullptr || bytes == 0 ? cudaErrorInvalidValue : cudaSuccess))
BANKWISE_RUNTIME(cudaHostUnregister, (void* pointer), failed(pointer == nullptr ? cudaErrorInvalidValue : cudaSuccess))
template <class T>
cudaError_t cudaHostGetDevicePointer(T** device, void* host, unsigned) {
  *device = static_cast<T*>(host);
  return cudaHostUnregister(host);
}
BANKWISE_RUNTIME(cudaHostGetFlags, (unsigned* flags, void*), give(flags, cudaHostAllocMapped))

// Pools: all memory comes from the device's.
struct CUmemPoolHandle_st {
  unsigned long long attributes[cudaMemPoolAttrReleaseThreshold + 1]{0, 1, 1, 1, 0};
};
BANKWISE_RUNTIME(cudaDeviceGetDefaultMemPool, (cudaMemPool_t * pool, int), give(pool, bankwise_runtime::default_pool()))
BANKWISE_RUNTIME(cudaDeviceGetMemPool, (cudaMemPool_t * pool, int), give(pool, bankwise_runtime::default_pool()))
BANKWISE_RUNTIME(cudaDeviceSetMemPool, (int, cudaMemPool_t), lasting_error())
BANKWISE_RUNTIME(cudaMemPoolCreate, (cudaMemPool_t * pool, const cudaMemPoolProps*), give(pool, new CUmemPoolHandle_st))
BANKWISE_RUNTIME(cudaMemPoolDestroy, (cudaMemPool_t), lasting_error())
BANKWISE_RUNTIME(cudaMemPoolTrimTo, (cudaMemPool_t, size_t), lasting_error())
BANKWISE_RUNTIME(cudaMemPoolSetAccess, (cudaMemPool_t, const cudaMemAccessDesc*, size_t), lasting_error())
BANKWISE_RUNTIME(cudaMemPoolSetAttribute, (cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value),
                 pool_attribute(pool, attribute, value, true))
BANKWISE_RUNTIME(cudaMemPoolGetAttribute, (cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value),
                 pool_attribute(pool, attribute, value, false))

cudaError_t cudaMemGetInfo(size_t* free, size_t* total);
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer);
BANKWISE_RUNTIME(cudaMemPrefetchAsync, (const void*, size_t, int, cudaStream_t = nullptr), lasting_error())
BANKWISE_RUNTIME(cudaMemPrefetchAsync, (const void*, size_t, cudaMemLocation, unsigned, cudaStream_t = nullptr),
                 lasting_error())
// clang-format off
template <class Location>  // an int, or a cudaMemLocation
BANKWISE_RUNTIME(cudaMemAdvise, (const void*, size_t, cudaMemoryAdvise, Location), lasting_error())
BANKWISE_RUNTIME_ASYNC(cudaMemcpy, (void* to, const void* from, size_t bytes, cudaMemcpyKind kind),
                       copy_rows, (to, bytes, from, bytes, bytes, 1, kind))
BANKWISE_RUNTIME_ASYNC(cudaMemcpyPeer, (void* to, int, const void* from, int, size_t bytes),
                       copy_rows, (to, bytes, from, bytes, bytes, 1, cudaMemcpyDeviceToDevice))
BANKWISE_RUNTIME_ASYNC(cudaMemcpy2D, (void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                                      size_t height, cudaMemcpyKind kind),
                       copy_rows, (to, to_pitch, from, from_pitch, width, height, kind))
BANKWISE_RUNTIME_ASYNC(cudaMemset, (void* to, int value, size_t bytes), set_rows, (to, bytes, value, bytes, 1))
BANKWISE_RUNTIME_ASYNC(cudaMemset2D, (void* to, size_t pitch, int value, size_t width, size_t height),
                       set_rows, (to, pitch, value, width, height))
BANKWISE_RUNTIME_ASYNC(cudaMemset3D, (cudaPitchedPtr to, int value, cudaExtent extent),
                       set_rows, (to.ptr, to.pitch, value, extent.width, to.ysize * extent.depth))

#define BANKWISE_SYMBOL reinterpret_cast<const volatile void*>(&symbol)
#define BANKWISE_SYMBOL_COPY(name, parameters, ...) \
  template <class T>                                \
  BANKWISE_RUNTIME(name, parameters, copy_symbol(BANKWISE_SYMBOL, sizeof symbol, memory, bytes, offset, __VA_ARGS__))
#define BANKWISE_SYMBOL_COPIES(name, to_symbol, parameters) \
  BANKWISE_SYMBOL_COPY(name, parameters, to_symbol)         \
  BANKWISE_SYMBOL_COPY(name##Async, (BANKWISE_LISTED parameters, cudaStream_t stream = nullptr), to_symbol, stream)
BANKWISE_SYMBOL_COPIES(cudaMemcpyToSymbol, true, (const T& symbol, const void* memory, size_t bytes, size_t offset = 0,
                                                  cudaMemcpyKind = cudaMemcpyHostToDevice))
BANKWISE_SYMBOL_COPIES(cudaMemcpyFromSymbol, false, (void* memory, const T& symbol, size_t bytes, size_t offset = 0,
                                                     cudaMemcpyKind = cudaMemcpyDeviceToHost))
template <class P, class T>
BANKWISE_RUNTIME(cudaGetSymbolAddress, (P** pointer, const T& symbol),
                 give(pointer, static_cast<P*>(const_cast<void*>(BANKWISE_SYMBOL))))
template <class T>
BANKWISE_RUNTIME(cudaGetSymbolSize, (size_t* bytes, const T& symbol), give(bytes, sizeof symbol))
#undef BANKWISE_SYMBOL_COPIES
#undef BANKWISE_SYMBOL_COPY
#undef BANKWISE_SYMBOL
                        // clang-format on
