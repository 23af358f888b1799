// SPDX-License-Identifier: MIT
#include <bankwise/emulator/runtime/host_access.hpp>

#include <fmt/format.h>

#include <mutex>
#include <set>

#include <bankwise/emulator/runtime/allocations.hpp>
#include <bankwise/emulator/runtime/messages.hpp>

// bankcheck defines it in programs that include Thrust.
extern "C" __attribute__((weak)) const char bankwise_uses_thrust;

namespace bankwise::emulator::runtime {

void host_access(const void* address, std::size_t bytes, bool writes, std::uintptr_t pc) {
  if (writes) note_write(address);
  static std::mutex mutex;
  static auto* const known = new std::set<std::uintptr_t>;
  {
    const std::lock_guard lock(mutex);
    if (known->count(pc) != 0) return;
  }
  const auto found = allocation_at(address);
  if (!found || found->kind != MemoryKind::device || &bankwise_uses_thrust != nullptr) return;
  {
    const std::lock_guard lock(mutex);
    if (!known->insert(pc).second) return;
  }
  report(fmt::format("the host {} {} bytes of device memory, at byte {} of {}{}", writes ? "writes" : "reads", bytes,
                     std::intptr_t(std::uintptr_t(address) - found->begin), description_of(*found),
                     found->live ? "" : fmt::format(", after {} has freed them", place_of(found->freed_by))),
         reinterpret_cast<const void*>(pc));
}

}  // namespace bankwise::emulator::runtime
