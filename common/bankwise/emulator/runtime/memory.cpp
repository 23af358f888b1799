// SPDX-License-Identifier: MIT
#include <bankwise/emulator/runtime/memory.hpp>

#include <fmt/format.h>

#include <cstring>
#include <string>
#include <string_view>

#include <bankwise/emulator/runtime/allocations.hpp>
#include <bankwise/emulator/runtime/messages.hpp>

using namespace bankwise::emulator::runtime;

#define BANKWISE_CALLER __builtin_return_address(0)

namespace {

constexpr std::size_t pitch_alignment = 512;

cudaError_t allocate_for(void** pointer, MemoryKind kind, std::size_t bytes, std::string_view function,
                         const void* caller) {
  if (pointer == nullptr) return failed(cudaErrorInvalidValue);
  *pointer = nullptr;
  if (bytes == 0) return lasting_error();
  *pointer = allocate(kind, bytes, function, caller);
  return *pointer != nullptr ? lasting_error() : failed(cudaErrorMemoryAllocation);
}

cudaError_t free_for(void* pointer, bool host, std::string_view function, const void* caller) {
  if (pointer == nullptr) return lasting_error();
  const auto allocation = allocation_at(pointer);
  if (allocation && allocation->live && (allocation->kind == MemoryKind::pinned) != host) {
    report(fmt::format("{} frees {}", function, description_of(*allocation)), caller);
    return failed(cudaErrorInvalidValue);
  }
  switch (release(pointer, caller)) {
    case Freed::yes: return lasting_error();
    case Freed::twice:
      report(fmt::format("{} frees {}, which {} has freed", function, description_of(*allocation),
                         place_of(allocation->freed_by)),
             caller);
      break;
    case Freed::never_allocated:
      report(allocation
                 ? fmt::format("{} gets a pointer to byte {} of {}; it needs the first byte", function,
                               std::intptr_t(std::uintptr_t(pointer) - allocation->begin), description_of(*allocation))
                 : fmt::format("{} frees memory that CUDA has not allocated", function),
             caller);
      break;
  }
  return failed(cudaErrorInvalidValue);
}

/// Whether `bytes` from `pointer` may be read or written; if not, it has been reported.
bool valid(const void* pointer, std::size_t bytes, bool writes, bool device, std::string_view function,
           const void* caller) {
  if (bytes == 0) return true;
  const auto allocation = allocation_at(pointer);
  const std::string_view verb = writes ? "writes" : "reads";
  if (!allocation) {
    if (!device) return true;
    if (pointer == nullptr) {
      report(fmt::format("{} {} {} bytes at a null pointer", function, verb, bytes), caller);
    } else {
      return true;  // a variable of the device, or memory that the program has registered
    }
    return false;
  }
  const std::size_t offset = std::uintptr_t(pointer) - allocation->begin;
  if (!allocation->live) {
    report(fmt::format("{} {} {}, which {} has freed", function, verb, description_of(*allocation),
                       place_of(allocation->freed_by)),
           caller);
    return false;
  }
  if (offset > allocation->bytes || bytes > allocation->bytes - offset) {
    report(fmt::format("{} {} {} bytes at byte {} of {}", function, verb, bytes, std::intptr_t(offset),
                       description_of(*allocation)),
           caller);
    return false;
  }
  if (!device && allocation->kind == MemoryKind::device) {
    report(fmt::format("{} gets a device pointer where it needs a host pointer: it points to {}", function,
                       description_of(*allocation)),
           caller);
    return false;
  }
  return true;
}

}  // namespace

namespace bankwise::emulator::runtime {

cudaError_t copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, std::string_view function,
                 const void* caller) {
  if (lasting_error() != cudaSuccess) return lasting_error();
  if (unsigned(kind) > cudaMemcpyDefault) return failed(cudaErrorInvalidMemcpyDirection);
  const bool any = kind == cudaMemcpyDefault;
  const bool to_device = any || kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
  const bool from_device = any || kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
  if (!valid(from, bytes, false, from_device, function, caller) ||
      !valid(to, bytes, true, to_device, function, caller)) {
    return failed(cudaErrorInvalidValue);
  }
  note_write(to);
  if (bytes > 0) std::memmove(to, from, bytes);
  return cudaSuccess;
}

}  // namespace bankwise::emulator::runtime

namespace {

cudaError_t copy_rows(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width,
                      std::size_t height, cudaMemcpyKind kind, std::string_view function, const void* caller) {
  if (width > to_pitch || width > from_pitch) return failed(cudaErrorInvalidPitchValue);
  for (std::size_t row = 0; row < height; ++row) {
    const cudaError_t error = copy(static_cast<char*>(to) + row * to_pitch,
                                   static_cast<const char*>(from) + row * from_pitch, width, kind, function, caller);
    if (error != cudaSuccess) return error;
  }
  return lasting_error();
}

cudaError_t set(void* to, int value, std::size_t bytes, std::string_view function, const void* caller) {
  if (lasting_error() != cudaSuccess) return lasting_error();
  if (!valid(to, bytes, true, true, function, caller)) return failed(cudaErrorInvalidValue);
  if (bytes > 0 && !note_fill(to, bytes, value & 0xFF)) std::memset(to, value, bytes);
  return cudaSuccess;
}

cudaError_t set_rows(void* to, std::size_t pitch, int value, std::size_t width, std::size_t height,
                     std::string_view function, const void* caller) {
  for (std::size_t row = 0; row < height; ++row) {
    const cudaError_t error = set(static_cast<char*>(to) + row * pitch, value, width, function, caller);
    if (error != cudaSuccess) return error;
  }
  return lasting_error();
}

}  // namespace

cudaError_t cudaMalloc(void** pointer, size_t bytes) {
  return allocate_for(pointer, MemoryKind::device, bytes, "cudaMalloc", BANKWISE_CALLER);
}
cudaError_t cudaMallocAsync(void** pointer, size_t bytes, cudaStream_t) {
  return allocate_for(pointer, MemoryKind::device, bytes, "cudaMallocAsync", BANKWISE_CALLER);
}
cudaError_t cudaMallocManaged(void** pointer, size_t bytes, unsigned) {
  return allocate_for(pointer, MemoryKind::managed, bytes, "cudaMallocManaged", BANKWISE_CALLER);
}
cudaError_t cudaMallocHost(void** pointer, size_t bytes, unsigned) {
  return allocate_for(pointer, MemoryKind::pinned, bytes, "cudaMallocHost", BANKWISE_CALLER);
}
cudaError_t cudaHostAlloc(void** pointer, size_t bytes, unsigned) {
  return allocate_for(pointer, MemoryKind::pinned, bytes, "cudaHostAlloc", BANKWISE_CALLER);
}
cudaError_t cudaMallocPitch(void** pointer, size_t* pitch, size_t width, size_t height) {
  *pitch = (width + pitch_alignment - 1) / pitch_alignment * pitch_alignment;
  return allocate_for(pointer, MemoryKind::device, *pitch * height, "cudaMallocPitch", BANKWISE_CALLER);
}
cudaError_t cudaMalloc3D(cudaPitchedPtr* pointer, cudaExtent extent) {
  const std::size_t pitch = (extent.width + pitch_alignment - 1) / pitch_alignment * pitch_alignment;
  *pointer = {nullptr, pitch, extent.width, extent.height};
  return allocate_for(&pointer->ptr, MemoryKind::device, pitch * extent.height * extent.depth, "cudaMalloc3D",
                      BANKWISE_CALLER);
}
cudaError_t cudaFree(void* pointer) { return free_for(pointer, false, "cudaFree", BANKWISE_CALLER); }
cudaError_t cudaFreeAsync(void* pointer, cudaStream_t) {
  return free_for(pointer, false, "cudaFreeAsync", BANKWISE_CALLER);
}
cudaError_t cudaFreeHost(void* pointer) { return free_for(pointer, true, "cudaFreeHost", BANKWISE_CALLER); }
cudaError_t cudaHostRegister(void* pointer, size_t bytes, unsigned) {
  return pointer == nullptr || bytes == 0 ? failed(cudaErrorInvalidValue) : cudaSuccess;
}
cudaError_t cudaHostUnregister(void* pointer) {
  return pointer == nullptr ? failed(cudaErrorInvalidValue) : cudaSuccess;
}
cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned) {
  *device = host;
  return host == nullptr ? failed(cudaErrorInvalidValue) : cudaSuccess;
}
cudaError_t cudaHostGetFlags(unsigned* flags, void*) {
  *flags = cudaHostAllocMapped;
  return cudaSuccess;
}
cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
  const MemorySizes sizes = memory_sizes();
  *free = sizes.free;
  *total = sizes.total;
  return lasting_error();
}
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
  const auto allocation = allocation_at(pointer);
  void* const plain = const_cast<void*>(pointer);
  *attributes = {cudaMemoryTypeUnregistered, 0, nullptr, plain};
  if (!allocation || !allocation->live) return cudaSuccess;
  switch (allocation->kind) {
    case MemoryKind::device: *attributes = {cudaMemoryTypeDevice, 0, plain, nullptr}; break;
    case MemoryKind::managed: *attributes = {cudaMemoryTypeManaged, 0, plain, plain}; break;
    case MemoryKind::pinned: *attributes = {cudaMemoryTypeHost, 0, plain, plain}; break;
  }
  return cudaSuccess;
}
cudaError_t cudaMemPrefetchAsync(const void*, size_t, int, cudaStream_t) { return lasting_error(); }
cudaError_t cudaMemPrefetchAsync(const void*, size_t, cudaMemLocation, unsigned, cudaStream_t) {
  return lasting_error();
}
cudaError_t cudaMemAdvise(const void*, size_t, cudaMemoryAdvise, int) { return lasting_error(); }
cudaError_t cudaMemAdvise(const void*, size_t, cudaMemoryAdvise, cudaMemLocation) { return lasting_error(); }

cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  return copy(to, from, bytes, kind, "cudaMemcpy", BANKWISE_CALLER);
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, cudaStream_t) {
  return copy(to, from, bytes, kind, "cudaMemcpyAsync", BANKWISE_CALLER);
}
cudaError_t cudaMemcpyPeer(void* to, int, const void* from, int, size_t bytes) {
  return copy(to, from, bytes, cudaMemcpyDeviceToDevice, "cudaMemcpyPeer", BANKWISE_CALLER);
}
cudaError_t cudaMemcpyPeerAsync(void* to, int, const void* from, int, size_t bytes, cudaStream_t) {
  return copy(to, from, bytes, cudaMemcpyDeviceToDevice, "cudaMemcpyPeerAsync", BANKWISE_CALLER);
}
cudaError_t cudaMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height,
                         cudaMemcpyKind kind) {
  return copy_rows(to, to_pitch, from, from_pitch, width, height, kind, "cudaMemcpy2D", BANKWISE_CALLER);
}
cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                              size_t height, cudaMemcpyKind kind, cudaStream_t) {
  return copy_rows(to, to_pitch, from, from_pitch, width, height, kind, "cudaMemcpy2DAsync", BANKWISE_CALLER);
}
cudaError_t cudaMemset(void* to, int value, size_t bytes) {
  return set(to, value, bytes, "cudaMemset", BANKWISE_CALLER);
}
cudaError_t cudaMemsetAsync(void* to, int value, size_t bytes, cudaStream_t) {
  return set(to, value, bytes, "cudaMemsetAsync", BANKWISE_CALLER);
}
cudaError_t cudaMemset2D(void* to, size_t pitch, int value, size_t width, size_t height) {
  return set_rows(to, pitch, value, width, height, "cudaMemset2D", BANKWISE_CALLER);
}
cudaError_t cudaMemset2DAsync(void* to, size_t pitch, int value, size_t width, size_t height, cudaStream_t) {
  return set_rows(to, pitch, value, width, height, "cudaMemset2DAsync", BANKWISE_CALLER);
}
cudaError_t cudaMemset3D(cudaPitchedPtr to, int value, cudaExtent extent) {
  return set_rows(to.ptr, to.pitch, value, extent.width, to.ysize * extent.depth, "cudaMemset3D", BANKWISE_CALLER);
}
cudaError_t cudaMemset3DAsync(cudaPitchedPtr to, int value, cudaExtent extent, cudaStream_t) {
  return set_rows(to.ptr, to.pitch, value, extent.width, to.ysize * extent.depth, "cudaMemset3DAsync", BANKWISE_CALLER);
}

namespace bankwise::emulator::runtime {

cudaError_t copy_symbol(void* symbol, size_t symbol_bytes, void* other, size_t bytes, size_t offset, bool to_symbol) {
  const std::string_view function = to_symbol ? "cudaMemcpyToSymbol" : "cudaMemcpyFromSymbol";
  if (offset > symbol_bytes || bytes > symbol_bytes - offset) {
    report(
        fmt::format("{} copies {} bytes at byte {} of a variable of {} bytes", function, bytes, offset, symbol_bytes),
        BANKWISE_CALLER);
    return failed(cudaErrorInvalidValue);
  }
  char* const device = static_cast<char*>(symbol) + offset;
  return to_symbol ? copy(device, other, bytes, cudaMemcpyDefault, function, BANKWISE_CALLER)
                   : copy(other, device, bytes, cudaMemcpyDefault, function, BANKWISE_CALLER);
}

}  // namespace bankwise::emulator::runtime
