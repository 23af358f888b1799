// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

namespace bankwise::emulator {

/// Internal to common/bankwise/emulator: the part of the address space where host/ puts device memory. `check` is
/// called for each access of a kernel to it; it returns if the access is valid.
struct GlobalMemory {
  std::uintptr_t begin = 0, bytes = 0;
  void (*check)(const void* address, std::size_t bytes, bool writes, std::uintptr_t pc) = nullptr;

  bool contains(const void* address) const { return std::uintptr_t(address) - begin < bytes; }
};
inline constinit GlobalMemory global_memory;

}  // namespace bankwise::emulator
