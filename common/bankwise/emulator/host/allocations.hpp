// SPDX-License-Identifier: MIT
//
// Device memory, in a separate part of the address space. Each allocation has its own pages, and its addresses are
// not used again, so an access to freed memory or past an allocation is found.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace bankwise::emulator::host {

enum class MemoryKind { device, managed, pinned };

struct Allocation {
  MemoryKind kind = MemoryKind::device;
  std::uintptr_t begin = 0;
  std::size_t bytes = 0;
  std::string_view function;       ///< of CUDA, that made it
  const void* caller = nullptr;    ///< its call
  const void* freed_by = nullptr;  ///< the call that freed it
  bool live = true;

  bool contains(const void* pointer) const { return std::uintptr_t(pointer) - begin < bytes; }
};

/// Null if there is no memory.
void* allocate(MemoryKind kind, std::size_t bytes, std::string_view function, const void* caller);

enum class Freed { yes, never_allocated, twice };
/// Frees an allocation by its first byte.
Freed release(void* pointer, const void* caller);

/// The allocation at an address, freed ones included.
std::optional<Allocation> allocation_at(const void* pointer);

/// "the 4096 bytes that main.cu:12 allocates with cudaMalloc".
std::string description_of(const Allocation& allocation);

struct MemorySizes {
  std::size_t free, total;
};
MemorySizes memory_sizes();

}  // namespace bankwise::emulator::host
