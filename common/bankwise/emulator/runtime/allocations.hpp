// SPDX-License-Identifier: MIT
//
// Device memory, in a separate part of the address space. Each allocation has its own pages, and its addresses are
// not used again, so an access to freed memory or past an allocation is found.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include <bankwise/emulator/runtime/digest.hpp>

namespace bankwise::emulator::runtime {

enum class MemoryKind { device, managed, pinned };

struct Allocation {
  MemoryKind kind = MemoryKind::device;
  std::uintptr_t begin = 0;
  std::size_t bytes = 0;
  std::string_view function;       ///< of CUDA, that made it
  const void* caller = nullptr;    ///< its call
  const void* freed_by = nullptr;  ///< the call that freed it
  bool live = true;
  // For repeats.hpp.
  bool is_written = true;          ///< since `digest`, by a kernel, a function of CUDA or the host
  Digest digest{};                 ///< of its content
  std::optional<int> filled_with;  ///< each byte, since the last write

  bool contains(const void* pointer) const { return std::uintptr_t(pointer) - begin < bytes; }
};

/// Null if there is no memory.
void* allocate(MemoryKind kind, std::size_t bytes, std::string_view function, const void* caller);

enum class Freed { yes, never_allocated, twice };
/// Frees an allocation by its first byte.
Freed release(void* pointer, const void* caller);

/// The allocation at an address, freed ones included.
std::optional<Allocation> allocation_at(const void* pointer);

/// Tells that memory of an allocation is written; nothing happens at another address.
void note_write(const void* pointer);
/// Tells that bytes get a value. Returns whether they have it already: programs clear memory again and again.
bool note_fill(const void* pointer, std::size_t bytes, int value);
/// Calls for each allocation that is not freed, in the order in which they were made.
void for_each_live_allocation(const std::function<void(Allocation&)>& visit);

/// "the 4096 bytes that main.cu:12 allocates with cudaMalloc".
std::string description_of(const Allocation& allocation);

struct MemorySizes {
  std::size_t free, total;
};
MemorySizes memory_sizes();

}  // namespace bankwise::emulator::runtime
