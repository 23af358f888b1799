// SPDX-License-Identifier: MIT
#include <bankwise/emulator/stacks.hpp>

#include <sys/mman.h>

#include <new>

namespace bankwise::emulator {

Stacks::Stacks(unsigned count) : count_(count) {
  void* memory = mmap(nullptr, count * (bytes + guard), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  memory_ = static_cast<std::byte*>(memory);
  for (unsigned i = 0; i < count; ++i) mprotect(memory_ + i * (bytes + guard), guard, PROT_NONE);
}

Stacks::~Stacks() {
  munmap(memory_, count_ * (bytes + guard));
}

bool Stacks::in_guard(const void* address) const {
  const auto* at = static_cast<const std::byte*>(address);
  if (at < memory_ || at >= memory_ + count_ * (bytes + guard)) return false;
  return std::size_t(at - memory_) % (bytes + guard) < guard;
}

}  // namespace bankwise::emulator
