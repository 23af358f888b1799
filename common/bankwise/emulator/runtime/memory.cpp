#include <bankwise/emulator/runtime/memory.hpp>

#include <fmt/format.h>

#include <cstring>
#include <string_view>
#include <utility>

#include <bankwise/emulator/core/lane.hpp>
#include <bankwise/emulator/runtime/allocations.hpp>
#include <bankwise/emulator/runtime/captures.hpp>
#include <bankwise/emulator/runtime/graphs.hpp>
#include <bankwise/emulator/runtime/messages.hpp>
#include <bankwise/emulator/runtime/skipped.hpp>

#define BANKWISE_CALLER __builtin_return_address(0)

namespace bankwise::emulator::runtime {
namespace {

/// Whether `bytes` from `pointer` may be read or written; if not, it has been reported.
bool valid(const void* pointer, std::size_t bytes, bool writes, bool device, std::string_view function,
           const void* caller) {
  if (bytes == 0) return true;
  const auto allocation = allocation_at(pointer);
  const std::string_view verb = writes ? "writes" : "reads";
  const auto refuse = [&](const std::string& sentence) {
    report(fmt::format("{} {}", function, sentence), caller);
    return false;
  };
  if (!allocation) {
    // Not null: memory of the host, or a variable of the device.
    return pointer != nullptr || refuse(fmt::format("{} {} bytes at a null pointer", verb, bytes));
  }
  const std::size_t offset = std::uintptr_t(pointer) - allocation->begin;
  const auto described = [&] { return description_of(*allocation); };
  if (!allocation->live) {
    return refuse(fmt::format("{} {}, which {} has freed", verb, described(), place_of(allocation->freed_by)));
  }
  if (offset > allocation->bytes || bytes > allocation->bytes - offset) {
    return refuse(fmt::format("{} {} bytes at byte {} of {}", verb, bytes, std::intptr_t(offset), described()));
  }
  return device || allocation->kind != MemoryKind::device ||
         refuse("gets a device pointer where it needs a host pointer: it points to " + described());
}

cudaError_t set(void* to, int value, std::size_t bytes, std::string_view function, const void* caller) {
  if (lasting_error() != cudaSuccess) return lasting_error();
  if (!valid(to, bytes, true, true, function, caller)) return failed(cudaErrorInvalidValue);
  note_host_copy(to, nullptr, bytes, caller);
  if (bytes > 0 && !note_write(to, bytes, value & 0xFF)) std::memset(to, value, bytes);
  return cudaSuccess;
}

/// Calls for each row, up to the first error.
template <class Work>
cudaError_t for_each_row(std::size_t height, Work work) {
  for (std::size_t row = 0; row < height; ++row) {
    if (const cudaError_t error = work(row); error != cudaSuccess) return error;
  }
  return lasting_error();
}

cudaError_t free_called(const char* function, void* pointer, bool host, const void* caller) {
  if (pointer == nullptr) return lasting_error();
  if (on_lane()) fence();  // the lane's last store, perhaps to this memory, is compared with what was there before
  const auto allocation = allocation_at(pointer);
  const auto refuse = [&](const std::string& sentence) {
    report(fmt::format("{} {}", function, sentence), caller);
    return failed(cudaErrorInvalidValue);
  };
  if (!allocation) return refuse("frees memory that CUDA has not allocated");
  // The destructor of a kernel's argument: each lane has a copy of the argument here, but on a GPU no lane destroys it.
  if (on_lane() && !allocation->by_kernel) return lasting_error();
  const auto described = [&] { return description_of(*allocation); };
  if (allocation->live && (allocation->kind == MemoryKind::pinned) != host) return refuse("frees " + described());
  switch (release(pointer, caller)) {
    case Freed::yes: return lasting_error();
    case Freed::twice:
      return refuse(fmt::format("frees {}, which {} has freed", described(), place_of(allocation->freed_by)));
    default:
      return refuse(fmt::format("gets a pointer to byte {} of {}; it needs the first byte",
                                std::intptr_t(std::uintptr_t(pointer) - allocation->begin), described()));
  }
}

}  // namespace

cudaError_t allocate_for(const char* function, void** pointer, MemoryKind kind, std::size_t bytes) {
  if (pointer == nullptr) return failed(cudaErrorInvalidValue);
  *pointer = nullptr;
  if (const cudaError_t error = refuse_unsafe_call(); error != cudaSuccess) return error;
  if (bytes == 0) return lasting_error();
  *pointer = allocate(kind, bytes, function, BANKWISE_CALLER);
  return *pointer != nullptr ? lasting_error() : failed(cudaErrorMemoryAllocation);
}

Work allocation_by_graph(void* memory, const void* caller) {
  release(memory, caller);
  return [=] { return renew(memory) ? lasting_error() : failed(cudaErrorMemoryAllocation); };
}
cudaError_t allocate_in_order(const char* function, void** pointer, std::size_t bytes, cudaStream_t stream) {
  if (pointer == nullptr) return failed(cudaErrorInvalidValue);
  *pointer = nullptr;
  if (bytes == 0) return lasting_error();
  *pointer = allocate(MemoryKind::device, bytes, function, BANKWISE_CALLER);
  if (*pointer == nullptr) return failed(cudaErrorMemoryAllocation);
  if (!is_capturing(stream)) return lasting_error();
  return keep(stream, cudaGraphNodeTypeMemAlloc, allocation_by_graph(*pointer, BANKWISE_CALLER));
}

cudaError_t free_for(const char* function, void* pointer, bool host) {
  if (const cudaError_t error = refuse_unsafe_call(); error != cudaSuccess) return error;
  return free_called(function, pointer, host, BANKWISE_CALLER);
}
cudaError_t free_in_order(const char* function, void* pointer, cudaStream_t stream) {
  return give_to(stream, cudaGraphNodeTypeMemFree, freeing_by_graph(function, pointer, BANKWISE_CALLER));
}
Work freeing_by_graph(const char* function, void* pointer, const void* caller) {
  return [=] { return free_called(function, pointer, false, caller); };
}

cudaMemPool_t default_pool() {
  static CUmemPoolHandle_st pool;
  return &pool;
}
cudaError_t pool_attribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value, bool sets) {
  if (pool == nullptr || value == nullptr || attribute == 0) return failed(cudaErrorInvalidValue);
  if (attribute > cudaMemPoolAttrReleaseThreshold) return failed(cudaErrorNotSupported);
  void* const kept = &pool->attributes[attribute];
  const std::size_t bytes = attribute == cudaMemPoolAttrReleaseThreshold ? sizeof(std::uint64_t) : sizeof(int);
  std::memcpy(sets ? kept : value, sets ? value : kept, bytes);
  return lasting_error();
}

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
  note_host_copy(to, from, bytes, caller);
  if (bytes > 0) std::memmove(to, from, bytes);
  return cudaSuccess;
}

cudaError_t copy_rows(const char* function, void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                      std::size_t width, std::size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
  if (width > to_pitch || width > from_pitch) return failed(cudaErrorInvalidPitchValue);
  return give_to(stream, cudaGraphNodeTypeMemcpy, [=, caller = BANKWISE_CALLER] {
    return for_each_row(height, [&](std::size_t row) {
      return copy(static_cast<char*>(to) + row * to_pitch, static_cast<const char*>(from) + row * from_pitch, width,
                  kind, function, caller);
    });
  });
}

cudaError_t set_rows(const char* function, void* to, std::size_t pitch, int value, std::size_t width,
                     std::size_t height, cudaStream_t stream) {
  return give_to(stream, cudaGraphNodeTypeMemset, [=, caller = BANKWISE_CALLER] {
    return for_each_row(height, [&](std::size_t row) {
      return set(static_cast<char*>(to) + row * pitch, value, width, function, caller);
    });
  });
}

cudaError_t set_elements(const cudaMemsetParams& p, const void* caller) {
  const std::size_t bytes = p.width * p.elementSize;
  return for_each_row(p.height, [&](std::size_t row) {
    char* const begin = static_cast<char*>(p.dst) + row * p.pitch;
    const cudaError_t error = set(begin, int(p.value), bytes, "cudaGraphAddMemsetNode", caller);
    if (error != cudaSuccess || p.elementSize == 1) return error;
    note_write(begin, bytes);
    for (std::size_t at = 0; at < bytes; at += p.elementSize) std::memcpy(begin + at, &p.value, p.elementSize);
    return error;
  });
}

cudaError_t copy_symbol(const volatile void* symbol, size_t symbol_bytes, const void* other, size_t bytes,
                        size_t offset, bool to_symbol, cudaStream_t stream) {
  const std::string_view function = to_symbol ? "cudaMemcpyToSymbol" : "cudaMemcpyFromSymbol";
  if (offset > symbol_bytes || bytes > symbol_bytes - offset) {
    report(
        fmt::format("{} copies {} bytes at byte {} of a variable of {} bytes", function, bytes, offset, symbol_bytes),
        BANKWISE_CALLER);
    return failed(cudaErrorInvalidValue);
  }
  void* to = static_cast<char*>(const_cast<void*>(symbol)) + offset;
  void* from = const_cast<void*>(other);
  if (!to_symbol) std::swap(to, from);
  return give_to(stream, cudaGraphNodeTypeMemcpy, [=, caller = BANKWISE_CALLER] {
    if (!to_symbol) note_host_read(from, caller);
    return copy(to, from, bytes, cudaMemcpyDefault, function, caller);
  });
}

}  // namespace bankwise::emulator::runtime

cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
  const auto sizes = bankwise_runtime::memory_sizes();
  *free = sizes.free;
  *total = sizes.total;
  return bankwise_runtime::lasting_error();
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
  const auto allocation = bankwise_runtime::allocation_at(pointer);
  void* const plain = const_cast<void*>(pointer);
  constexpr cudaMemoryType types[]{cudaMemoryTypeDevice, cudaMemoryTypeManaged, cudaMemoryTypeHost};  // by MemoryKind
  const bool known = allocation && allocation->live;
  *attributes = {known ? types[int(allocation->kind)] : cudaMemoryTypeUnregistered, 0, known ? plain : nullptr, plain};
  if (attributes->type == cudaMemoryTypeDevice) attributes->hostPointer = nullptr;
  return cudaSuccess;
}
