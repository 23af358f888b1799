// SPDX-License-Identifier: MIT
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

#include <bankwise/emulator/core/block_runner.hpp>
#include <bankwise/emulator/core/global_memory.hpp>
#include <bankwise/emulator/runtime/messages.hpp>

// bankcheck defines it in programs that include Thrust.
extern "C" __attribute__((weak)) const char bankwise_uses_thrust;

namespace bankwise::emulator::runtime {
namespace {

constexpr std::size_t page = std::size_t{1} << GlobalMemory::page_bits;
constexpr std::size_t alignment = 256;                       // the alignment that CUDA promises for an allocation
constexpr std::size_t address_space = std::size_t{1} << 40;  // reserved, not used

constexpr std::size_t pages_for(std::size_t bytes) { return (bytes + page - 1) / page; }

class DeviceMemory {
 public:
  DeviceMemory() {
    void* base = mmap(nullptr, address_space, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    void* owners = mmap(nullptr, address_space / page * sizeof(std::uint32_t), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    // Each allocation has at least one page, and one after it.
    void* ranges = mmap(nullptr, address_space / page / 2 * sizeof(GlobalMemory::Range), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED || owners == MAP_FAILED || ranges == MAP_FAILED) return;
    base_ = std::uintptr_t(base);
    owners_ = static_cast<std::uint32_t*>(owners);
    ranges_ = static_cast<GlobalMemory::Range*>(ranges);
    global_memory.begin = base_;
    global_memory.owners = owners_;
    global_memory.allocations = ranges_;
    global_memory.refuse = refuse;
    global_memory.host_access = host_access;
    global_memory.bytes = address_space;
  }

  void* allocate(MemoryKind kind, std::size_t bytes, std::string_view function, const void* caller) {
    const std::lock_guard lock(mutex_);
    // A page stays free after each allocation, or two with the next one's alignment.
    const std::size_t pages = pages_for(bytes);
    if (base_ == 0 || bytes > sizes().free || next_ + pages + 1 > address_space / page) return nullptr;
    const std::uintptr_t first = base_ + next_ * page;
    if (mprotect(reinterpret_cast<void*>(first), pages * page, PROT_READ | PROT_WRITE) != 0) return nullptr;
    // The end lies at the end of a page, so that accesses past it fault even in code that is not watched.
    const std::uintptr_t begin = first + (pages * page - bytes) / alignment * alignment;
    all_.push_back({.kind = kind, .begin = begin, .bytes = bytes, .function = function, .caller = caller});
    ranges_[all_.size()] = {begin, bytes};
    std::fill_n(owners_ + next_, pages, std::uint32_t(all_.size()));
    next_ += pages + 1;
    used_ += pages * page;
    return reinterpret_cast<void*>(begin);
  }

  Freed release(void* pointer, const void* caller) {
    const std::lock_guard lock(mutex_);
    Allocation* allocation = at(pointer);
    if (allocation == nullptr || allocation->begin != std::uintptr_t(pointer)) return Freed::never_allocated;
    if (!allocation->live) return Freed::twice;
    allocation->live = false;
    ranges_[owners_[(allocation->begin - base_) / page]].bytes = 0;
    allocation->freed_by = caller;
    const std::uintptr_t first = allocation->begin / page * page;
    const std::size_t bytes = pages_for(allocation->bytes) * page;
    used_ -= bytes;
    // The addresses stay reserved, without memory. If the system refuses, the memory stays.
    static_cast<void>(mmap(reinterpret_cast<void*>(first), bytes, PROT_NONE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0));
    return Freed::yes;
  }

  std::optional<Allocation> find(const void* pointer) {
    const std::lock_guard lock(mutex_);
    if (const Allocation* allocation = at(pointer)) return *allocation;
    return std::nullopt;
  }

  void note_write(const void* pointer) {
    const std::lock_guard lock(mutex_);
    Allocation* allocation = at(pointer);
    if (allocation == nullptr) return;
    allocation->is_written = true;
    allocation->filled_with.reset();
  }

  bool note_fill(const void* pointer, std::size_t bytes, int value) {
    const std::lock_guard lock(mutex_);
    Allocation* allocation = at(pointer);
    if (allocation == nullptr) return false;
    const bool whole = allocation->begin == std::uintptr_t(pointer) && allocation->bytes == bytes &&
                       allocation->kind == MemoryKind::device;
    if (whole && allocation->filled_with == value) return true;
    allocation->is_written = true;
    allocation->filled_with = whole ? std::optional(value) : std::nullopt;
    return false;
  }

  void for_each_live(const std::function<void(Allocation&)>& visit) {
    const std::lock_guard lock(mutex_);
    for (Allocation& allocation : all_) {
      if (allocation.live) visit(allocation);
    }
  }

  MemorySizes sizes() const {
    // What the machine has bounds what the GPU would have.
    struct sysinfo machine {};
    sysinfo(&machine);
    const std::size_t total = std::size_t(this_gpu().memory_gib) << 30;
    const std::size_t host = std::size_t(machine.freeram + machine.bufferram) * machine.mem_unit;
    return {std::min(total - std::min(total, used_), host), total};
  }

  /// Without a lock: for a kernel's accesses.
  const Allocation* owner(const void* pointer) const {
    const std::uint32_t number = owners_[(std::uintptr_t(pointer) - base_) / page];
    return number == 0 ? nullptr : &all_[number - 1];
  }

 private:
  static void refuse(const void* address, std::size_t bytes, bool writes, std::uintptr_t pc);

  Allocation* at(const void* pointer) {
    if (std::uintptr_t(pointer) - base_ >= address_space) return nullptr;
    const std::uint32_t number = owners_[(std::uintptr_t(pointer) - base_) / page];
    return number == 0 ? nullptr : &all_[number - 1];
  }

  std::uintptr_t base_ = 0;
  std::uint32_t* owners_ = nullptr;  ///< as in GlobalMemory
  GlobalMemory::Range* ranges_ = nullptr;
  std::deque<Allocation> all_;
  std::size_t next_ = 1, used_ = 0;  ///< the next free page; bytes in use
  std::mutex mutex_;
};

DeviceMemory& memory() {
  static auto* const only = new DeviceMemory;  // outlives the program's static objects
  return *only;
}

void DeviceMemory::refuse(const void* address, std::size_t bytes, bool writes, std::uintptr_t pc) {
  const Allocation* owner = memory().owner(address);
  Lane& lane = *BlockRunner::current;
  // The nearest allocation before the address is what the program most likely means.
  const auto* pointer = static_cast<const char*>(address);
  for (std::size_t pages = 0; owner == nullptr && pages < 64 && std::uintptr_t(pointer) - page >= global_memory.begin;
       ++pages) {
    pointer -= page;
    owner = memory().owner(pointer);
  }
  std::string text = fmt::format("{} {} bytes of device memory ", writes ? "writes" : "reads", bytes);
  if (owner == nullptr) {
    text += "that was never allocated";
  } else {
    const auto at = std::intptr_t(std::uintptr_t(address) - owner->begin);
    text += fmt::format("at byte {} of {}", at, description_of(*owner));
    if (!owner->live) text += fmt::format(", after {} has freed them", place_of(owner->freed_by));
  }
  lane.runner->fail(lane, Fault::invalid_address, pc, text);
}

}  // namespace

void* allocate(MemoryKind kind, std::size_t bytes, std::string_view function, const void* caller) {
  return memory().allocate(kind, bytes, function, caller);
}

Freed release(void* pointer, const void* caller) { return memory().release(pointer, caller); }

std::optional<Allocation> allocation_at(const void* pointer) { return memory().find(pointer); }

void note_write(const void* pointer) { memory().note_write(pointer); }

bool note_fill(const void* pointer, std::size_t bytes, int value) { return memory().note_fill(pointer, bytes, value); }

void for_each_live_allocation(const std::function<void(Allocation&)>& visit) { memory().for_each_live(visit); }

std::string description_of(const Allocation& allocation) {
  return fmt::format("the {} bytes that {} allocates with {}", allocation.bytes, place_of(allocation.caller),
                     allocation.function);
}

MemorySizes memory_sizes() { return memory().sizes(); }

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
  if (writes) note_write(address);
  static std::mutex mutex;
  static auto* const known = new std::set<std::uintptr_t>;
  {
    const std::lock_guard lock(mutex);
    if (known->count(pc) != 0) return;
  }
  const auto allocation = allocation_at(address);
  if (!allocation || allocation->kind != MemoryKind::device || &bankwise_uses_thrust != nullptr) return;
  {
    const std::lock_guard lock(mutex);
    if (!known->insert(pc).second) return;
  }
  report(fmt::format("the host {} {} bytes of device memory, at byte {} of {}{}", writes ? "writes" : "reads", bytes,
                     std::intptr_t(std::uintptr_t(address) - allocation->begin), description_of(*allocation),
                     allocation->live ? "" : fmt::format(", after {} has freed them", place_of(allocation->freed_by))),
         reinterpret_cast<const void*>(pc));
}

}  // namespace bankwise::emulator::runtime
