// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

namespace bankwise::emulator {

/// Internal to common/bankwise/emulator: stacks for lanes, each with a page below it that nobody may touch.
class Stacks {
 public:
  explicit Stacks(unsigned count);
  ~Stacks();
  Stacks(const Stacks&) = delete;
  Stacks& operator=(const Stacks&) = delete;

  unsigned count() const { return count_; }
  static constexpr std::size_t bytes = std::size_t{1} << 17;  // of one; memory is used as far as it is touched
  std::byte* operator[](unsigned i) const { return memory_ + i * (bytes + guard) + guard; }
  /// Whether an address lies in one of the pages between stacks.
  bool in_guard(const void* address) const;

 private:
  static constexpr std::size_t guard = 4096;
  unsigned count_;
  std::byte* memory_;
};

}  // namespace bankwise::emulator
