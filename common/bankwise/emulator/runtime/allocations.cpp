#include <bankwise/emulator/runtime/allocations.hpp>

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/sysinfo.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <deque>
#include <mutex>
#include <set>
#include <utility>

#include <bankwise/emulator/core/global_memory.hpp>
#include <bankwise/emulator/core/lane.hpp>
#include <bankwise/emulator/runtime/memory.hpp>
#include <bankwise/emulator/runtime/messages.hpp>
#include <bankwise/emulator/runtime/skipped.hpp>

// bankcheck defines it in programs that include Thrust.
extern "C" __attribute__((weak)) const char bankwise_uses_thrust;

namespace bankwise::emulator::runtime {
namespace {

thread_local int library_calls = 0;

constexpr std::size_t page = std::size_t{1} << GlobalMemory::page_bits;
constexpr std::size_t alignment = 256;                       // the alignment that CUDA promises for an allocation
constexpr std::size_t address_space = std::size_t{1} << 40;  // reserved, not used

constexpr std::size_t pages_for(std::size_t bytes) { return (bytes + page - 1) / page; }

struct DeviceMemory {
  DeviceMemory();
  /// The allocation at an address; null if there is none. A kernel's accesses take no lock.
  Allocation* at(const void* pointer) {
    if (base == 0 || std::uintptr_t(pointer) - base >= address_space) return nullptr;
    const std::uint32_t number = owners[(std::uintptr_t(pointer) - base) / page];
    return number == 0 ? nullptr : &allocations[number - 1];
  }

  std::uintptr_t base = 0;
  std::uint32_t* owners = nullptr;  ///< as in GlobalMemory
  GlobalMemory::Range* ranges = nullptr;
  std::deque<Allocation> allocations;
  std::size_t next = 1, used = 0;  ///< the next free page; bytes in use
  std::mutex mutex;
};

DeviceMemory& memory() {
  static auto* const only = new DeviceMemory;  // outlives the program's static objects
  return *only;
}

/// The first address, and bytes.
std::pair<std::uintptr_t, std::size_t> pages_of(const Allocation& allocation) {
  return {allocation.begin / page * page, pages_for(allocation.bytes) * page};
}

std::string place_in(const Allocation& allocation, const void* address) {
  return fmt::format("at byte {} of {}{}", std::intptr_t(std::uintptr_t(address) - allocation.begin),
                     description_of(allocation),
                     allocation.live ? "" : fmt::format(", after {} has freed them", place_of(allocation.freed_by)));
}

std::string sentence_about(const void* address, std::size_t bytes, bool writes) {
  const Allocation* owner = memory().at(address);
  // The nearest allocation before the address is what the program most likely means.
  const auto* pointer = static_cast<const char*>(address);
  for (std::size_t pages = 0; owner == nullptr && pages < 64; ++pages) owner = memory().at(pointer -= page);
  const std::string text = fmt::format("{} {} bytes of device memory ", writes ? "writes" : "reads", bytes);
  return text + (owner == nullptr ? "that was never allocated" : place_in(*owner, address));
}

/// The pages after an allocation, or where one was.
bool make_usable(const void* address, std::size_t bytes) {
  static std::mutex mutex;
  static auto* const opened = new std::set<std::uintptr_t>;
  constexpr std::size_t max_opened = 4096;
  const std::lock_guard lock(mutex);
  const std::uintptr_t end = std::uintptr_t(address) + bytes;
  for (std::uintptr_t at = std::uintptr_t(address) / page * page; at < end; at += page) {
    const Allocation* const owner = memory().at(reinterpret_cast<const void*>(at));
    if ((owner != nullptr && owner->live) || !opened->insert(at).second) continue;
    const bool is_full = opened->size() > max_opened;
    if (is_full || mprotect(reinterpret_cast<void*>(at), page, PROT_READ | PROT_WRITE) != 0) return false;
  }
  return true;
}

DeviceMemory::DeviceMemory() {
  constexpr std::size_t pages = address_space / page;
  void* const begin = reserve(address_space, PROT_NONE);
  owners = reserve_table<std::uint32_t>(pages);
  ranges = reserve_table<GlobalMemory::Range>(pages / 2);  // each allocation has at least one page, and one after it
  if (begin == nullptr || owners == nullptr || ranges == nullptr) return;
  base = std::uintptr_t(begin);
  global_memory.begin = base;
  global_memory.owners = owners;
  global_memory.allocations = ranges;
  global_memory.written_in = reserve_table<std::atomic<std::uint8_t>>(pages);
  // The races in device memory take up to 4.25 times its size.
  bool is_watched = global_memory.written_in != nullptr;
  const auto reserve_touches = [&](std::size_t unit) {
    const std::size_t count = address_space / unit;
    auto* const table = is_watched ? reserve_table<GlobalMemory::Touch>(count) : nullptr;
    is_watched = table != nullptr;
    if (is_watched) madvise(table, count * sizeof *table, MADV_HUGEPAGE);
    return table;
  };
  global_memory.last_writes = reserve_touches(4);
  global_memory.sector_reads = reserve_touches(GlobalMemory::sector);
  global_memory.last_reads = reserve_touches(4);
  // A kernel may touch each page once: huge pages are faulted in far less often.
  madvise(begin, address_space, MADV_HUGEPAGE);
  global_memory.describe = [](const void* address) {
    return in_words_of_program(place_in(*memory().at(address), address));
  };
  global_memory.sentence_about = [](const void* address, std::size_t bytes, bool writes) {
    return in_words_of_program(sentence_about(address, bytes, writes));
  };
  global_memory.make_usable = make_usable;
  global_memory.host_access = host_access;
  global_memory.bytes = address_space;
}

}  // namespace

LibraryCall::LibraryCall() {
  ++library_calls;
  note_library();
}
LibraryCall::~LibraryCall() { --library_calls; }

void* reserve(std::size_t bytes, int protection) {
  void* const begin = mmap(nullptr, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return begin == MAP_FAILED ? nullptr : begin;
}

void* allocate(MemoryKind kind, std::size_t bytes, std::string_view function, const void* caller) {
  DeviceMemory& device = memory();
  const std::size_t available = memory_sizes().free;
  const std::lock_guard lock(device.mutex);
  // A page stays free after each allocation, or two with the next one's alignment.
  const std::size_t pages = pages_for(bytes);
  if (device.base == 0 || bytes > available || device.next + pages + 1 > address_space / page) return nullptr;
  const std::uintptr_t first = device.base + device.next * page;
  if (mprotect(reinterpret_cast<void*>(first), pages * page, PROT_READ | PROT_WRITE) != 0) return nullptr;
  // The end lies at the end of a page, so that accesses past it fault even in code that is not watched.
  const std::uintptr_t begin = first + (pages * page - bytes) / alignment * alignment;
  device.allocations.push_back(
      {.kind = kind, .begin = begin, .bytes = bytes, .function = function, .caller = caller, .by_kernel = on_lane()});
  const std::size_t number = device.allocations.size();
  device.ranges[number] = {.begin = begin, .bytes = bytes, .is_for_host = kind != MemoryKind::device};
  std::fill_n(device.owners + device.next, pages, std::uint32_t(number));
  device.next += pages + 1;
  device.used += pages * page;
  return reinterpret_cast<void*>(begin);
}

Freed release(void* pointer, const void* caller) {
  DeviceMemory& device = memory();
  const std::lock_guard lock(device.mutex);
  Allocation* allocation = device.at(pointer);
  if (allocation == nullptr || allocation->begin != std::uintptr_t(pointer)) return Freed::never_allocated;
  if (!allocation->live) return Freed::twice;
  allocation->live = false;
  const auto [first, bytes] = pages_of(*allocation);
  device.ranges[device.owners[(first - device.base) / page]].bytes = 0;
  allocation->freed_by = caller;
  device.used -= bytes;
  if (global_memory.last_reads != nullptr) {
    madvise(global_memory.last_writes + (first - device.base) / 4, bytes * 2, MADV_DONTNEED);
    madvise(global_memory.last_reads + (first - device.base) / 4, bytes * 2, MADV_DONTNEED);
    madvise(global_memory.sector_reads + (first - device.base) / GlobalMemory::sector, bytes / 4, MADV_DONTNEED);
  }
  // The addresses stay reserved, without memory. If the system refuses, the memory stays.
  static_cast<void>(mmap(reinterpret_cast<void*>(first), bytes, PROT_NONE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0));
  return Freed::yes;
}

bool renew(void* pointer) {
  DeviceMemory& device = memory();
  const std::lock_guard lock(device.mutex);
  Allocation* allocation = device.at(pointer);
  if (allocation == nullptr || allocation->live) return allocation != nullptr;
  const auto [first, bytes] = pages_of(*allocation);
  if (mprotect(reinterpret_cast<void*>(first), bytes, PROT_READ | PROT_WRITE) != 0) return false;
  allocation->live = allocation->is_written = true;
  allocation->filled_with.reset();
  device.ranges[device.owners[(first - device.base) / page]].bytes = allocation->bytes;
  device.used += bytes;
  return true;
}

std::optional<Allocation> allocation_at(const void* pointer) {
  const std::lock_guard lock(memory().mutex);
  const Allocation* allocation = memory().at(pointer);
  return allocation == nullptr ? std::nullopt : std::optional(*allocation);
}

bool note_write(const void* pointer, std::size_t bytes, std::optional<int> value) {
  const std::lock_guard lock(memory().mutex);
  Allocation* allocation = memory().at(pointer);
  if (allocation == nullptr) return false;
  const bool whole = allocation->begin == std::uintptr_t(pointer) && allocation->bytes == bytes &&
                     allocation->kind == MemoryKind::device;
  if (!whole) value.reset();
  if (value && allocation->filled_with == value) return true;
  allocation->is_written = true;
  allocation->filled_with = value;
  return false;
}

void note_writes(bool to_any) {
  const std::lock_guard lock(memory().mutex);
  for (std::size_t i = 0; i < memory().allocations.size(); ++i) {
    if (!std::exchange(memory().ranges[i + 1].is_written, false) && !to_any) continue;
    Allocation& allocation = memory().allocations[i];
    allocation.is_written = true;
    allocation.filled_with.reset();
  }
}

void for_each_live_allocation(const std::function<void(Allocation&)>& visit) {
  const std::lock_guard lock(memory().mutex);
  for (Allocation& allocation : memory().allocations) {
    if (allocation.live) visit(allocation);
  }
}

std::string description_of(const Allocation& allocation) {
  return fmt::format("the {} bytes that {} allocates with {}", allocation.bytes, place_of(allocation.caller),
                     allocation.function);
}

MemorySizes memory_sizes() {
  // What the machine has bounds what the GPU would have.
  struct sysinfo machine {};
  sysinfo(&machine);
  const std::size_t total = std::size_t(this_gpu().memory_gib) << 30;
  const std::size_t host = std::size_t(machine.freeram + machine.bufferram) * machine.mem_unit;
  const std::lock_guard lock(memory().mutex);
  return {std::min(total - std::min(total, memory().used), host), total, memory().used, host};
}

Digest digest_of(const void* memory, std::size_t bytes) {
  constexpr std::array<std::uint64_t, 4> factors{0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9,
                                                 0xD6E8FEB86659FD93};
  std::array<std::uint64_t, 4> sums{bytes, ~bytes, factors[2], factors[3]};
  const auto* at = static_cast<const std::byte*>(memory);
  const auto add = [&](const std::byte* from) {
    std::array<std::uint64_t, 4> words;
    std::memcpy(words.data(), from, sizeof words);
    // The rotation brings high bits down, where the next product spreads them.
    for (std::size_t i = 0; i < 4; ++i) sums[i] = std::rotl(sums[i] ^ words[i], 29) * factors[i];
  };
  for (; bytes >= 32; bytes -= 32, at += 32) add(at);
  if (bytes > 0) {
    std::array<std::byte, 32> rest{};
    std::memcpy(rest.data(), at, bytes);
    add(rest.data());
  }
  const auto mixed = [&](std::uint64_t a, std::uint64_t b) {
    a = (a ^ a >> 32) * factors[0];
    b = (b ^ b >> 29) * factors[1];
    a = (a ^ std::rotl(b, 23)) * factors[3];
    return a ^ a >> 31;
  };
  return {mixed(sums[0], sums[1]) + sums[2], mixed(sums[2], sums[3]) ^ sums[1]};
}

void host_access(const void* address, std::size_t bytes, bool writes, std::uintptr_t pc) {
  // Programs fill and check managed and pinned memory element by element, and its content is never taken as known.
  const bool is_for_host = global_memory.allocations[global_memory.number_at(address)].is_for_host;
  if (writes && !is_for_host) note_write(address);
  if (library_calls > 0) return;
  if (!writes) note_host_read(address, reinterpret_cast<const void*>(pc));
  if (is_for_host) return;
  static std::mutex mutex;
  static auto* const known = new std::set<std::uintptr_t>;
  const std::lock_guard lock(mutex);
  if (known->contains(pc)) return;
  const auto allocation = allocation_at(address);
  if (!allocation || allocation->kind != MemoryKind::device) return;
  known->insert(pc);
  if (&bankwise_uses_thrust != nullptr) return note_library();
  report(fmt::format("the host {} {} bytes of device memory, {}", writes ? "writes" : "reads", bytes,
                     place_in(*allocation, address)),
         reinterpret_cast<const void*>(pc));
}

}  // namespace bankwise::emulator::runtime
