#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace bankwise::emulator {

/// Internal to common/bankwise/emulator: the part of the address space where runtime/ puts device memory.
struct GlobalMemory {
  struct Range {
    std::uintptr_t begin = 0;
    std::size_t bytes = 0;     ///< 0: it has been freed
    bool is_written = false;   ///< by a kernel, since this was cleared; host threads set it together
    bool is_for_host = false;  ///< the host may access it, too
  };
  static constexpr unsigned page_bits = 12;

  std::uintptr_t begin = 0, bytes = 0;
  const std::uint32_t* owners = nullptr;  ///< the number of each page's allocation, from 1
  Range* allocations = nullptr;           ///< by number
  /// What a kernel does by an access that is not valid: "writes 4 bytes of device memory ...".
  std::string (*sentence_about)(const void* address, std::size_t bytes, bool writes) = nullptr;
  /// Opens pages that nothing uses, so that the launch goes on after such an access. False if that is impossible.
  bool (*make_usable)(const void* address, std::size_t bytes) = nullptr;
  /// "at byte 8 of the 4096 bytes that ...": for an address in an allocation.
  std::string (*describe)(const void* address) = nullptr;
  /// The last write and the last read of each word (global_races.hpp); null: they are not watched. If memory is only
  /// read, or only written, the pages of the other table stay empty.
  using Touch = std::atomic<std::uint64_t>;
  Touch *last_writes = nullptr, *last_reads = nullptr;
  /// The last read of each sector. It counts for all its words, unless it says to look in `last_reads`.
  Touch* sector_reads = nullptr;
  static constexpr std::size_t sector = 32;  ///< bytes
  /// The launch that was the last to write to each page, as it is called in `last_writes`.
  std::atomic<std::uint8_t>* written_in = nullptr;
  /// How a launch uses each allocation, by number: bits; 0: the program's variables. Null: this is not noted.
  std::atomic<std::uint8_t>* uses = nullptr;
  static constexpr std::uint8_t reads = 1, writes = 2, synchronizes = 4;  // atomics, volatile accesses
  /// Called for each access of the host to an address that it contains.
  void (*host_access)(const void* address, std::size_t bytes, bool writes, std::uintptr_t pc) = nullptr;
  /// Set if a kernel reads, writes or calls anything but its memory: device memory, the program's variables, its stack;
  /// cleared before each launch.
  std::atomic<bool> left{false};
  /// Set if a kernel uses device memory otherwise than by accesses that are in these tables: by atomics, for example.
  std::atomic<bool> unwatched{false};
  static void raise(std::atomic<bool>& flag) {
    if (!flag.load(std::memory_order_relaxed)) flag.store(true, std::memory_order_relaxed);  // threads share the line
  }
  void leave() { raise(left); }

  void note_use(std::uint32_t number, std::uint8_t use) const {
    if (uses == nullptr) return;
    if ((uses[number].load(std::memory_order_relaxed) & use) == 0)
      uses[number].fetch_or(use, std::memory_order_relaxed);
  }
  /// A kernel writes to an address that it contains.
  void note_write(const void* address) const {
    const std::atomic_ref written(allocations[number_at(address)].is_written);
    if (!written.load(std::memory_order_relaxed)) written.store(true, std::memory_order_relaxed);
  }
  /// For an address that it contains.
  std::uint32_t number_at(const void* address) const { return owners[(std::uintptr_t(address) - begin) >> page_bits]; }

  bool contains(const void* address) const { return std::uintptr_t(address) - begin < bytes; }
  /// Whether an access to an address that it contains lies within one allocation. Without a lock: an allocation that a
  /// kernel uses does not change.
  bool is_valid(const void* address, std::size_t size) const {
    const Range& owner = allocations[number_at(address)];
    return size <= owner.bytes && std::uintptr_t(address) - owner.begin <= owner.bytes - size;
  }
};
inline constinit GlobalMemory global_memory;

unsigned launches_so_far();
/// Whether the last launch has both read and written a word of device memory here, by accesses in `last_writes` and
/// `last_reads`.
bool reads_what_it_writes(std::uintptr_t begin, std::size_t bytes);

}  // namespace bankwise::emulator
