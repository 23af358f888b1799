// Device memory, in a separate part of the address space. Each allocation has its own pages, and its addresses are
// not used again, so an access to freed memory or past an allocation is found.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include <bankwise/emulator/runtime/memory.hpp>

namespace bankwise::emulator::runtime {

/// 128 bits that stand for the content of memory.
struct Digest {
  std::uint64_t low = 0, high = 0;
  friend bool operator==(const Digest&, const Digest&) = default;
};

/// Reads about 10 GB/s.
Digest digest_of(const void* memory, std::size_t bytes);

struct Allocation {
  MemoryKind kind = MemoryKind::device;
  std::uintptr_t begin = 0;
  std::size_t bytes = 0;
  std::string_view function;       ///< the function of CUDA that made it
  const void* caller = nullptr;    ///< its call
  const void* freed_by = nullptr;  ///< the call that freed it
  bool by_kernel = false;          ///< a kernel called that function
  bool live = true;
  // For repeats.hpp.
  bool is_written = true;          ///< since `digest`, by a kernel, a function of CUDA or the host
  Digest digest{};                 ///< the digest of its content
  std::optional<int> filled_with;  ///< each byte, since the last write
};

/// Reserves addresses, which take memory where they are used; null if that is impossible.
void* reserve(std::size_t bytes, int protection);
/// All zeros.
template <class T>
T* reserve_table(std::size_t count) {
  return static_cast<T*>(reserve(count * sizeof(T), PROT_READ | PROT_WRITE));
}

/// Null if there is no memory.
void* allocate(MemoryKind kind, std::size_t bytes, std::string_view function, const void* caller);

/// Makes freed memory usable again, at its addresses; false if the system refuses.
bool renew(void* pointer);

enum class Freed { yes, never_allocated, twice };
/// Frees an allocation by its first byte.
Freed release(void* pointer, const void* caller);

/// The allocation at an address, freed ones included.
std::optional<Allocation> allocation_at(const void* pointer);

/// Tells that memory of an allocation is written; nothing happens at another address. Returns whether all of its bytes
/// have the value already: programs clear memory again and again.
bool note_write(const void* pointer, std::size_t bytes = 0, std::optional<int> value = {});
/// Notes what a launch has written; `to_any`: perhaps to any allocation.
void note_writes(bool to_any);
/// Calls for each allocation that is not freed, in the order in which they were made.
void for_each_live_allocation(const std::function<void(Allocation&)>& visit);

/// "the 4096 bytes that main.cu:12 allocates with cudaMalloc".
std::string description_of(const Allocation& allocation);

struct MemorySizes {
  std::size_t free, total;  ///< as cudaMemGetInfo() has them
  std::size_t used, host;   ///< in use; free in this machine
};
MemorySizes memory_sizes();

/// Reports an access of the host to device memory, once for each place in the program. Managed and pinned memory is for
/// both. Programs that use Thrust are not diagnosed: its algorithms for the device run on the host here.
void host_access(const void* address, std::size_t bytes, bool writes, std::uintptr_t pc);

/// Copies and reports what is out of bounds, for `function`, which `caller` has called.
cudaError_t copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, std::string_view function,
                 const void* caller);

}  // namespace bankwise::emulator::runtime
