// SPDX-License-Identifier: MIT
//
// Barriers, fences and clocks.
#pragma once

#include <time.h>

#include <bankwise/emulator/cuda/indices.hpp>

namespace bankwise::emulator::words {

// Not inlined, because the emulator reads the return address: a line of the kernel.

/// Waits for the block. Returns the number of lanes with `says_yes`.
unsigned synchronize_block(bool says_yes) noexcept;
/// Waits for the lanes that `mask` names, see warp.hpp.
void synchronize_warp(unsigned mask) noexcept;
long long clock() noexcept;
[[noreturn]] void trap() noexcept;

}  // namespace bankwise::emulator::words

namespace bankwise::cuda {

BANKWISE_WORD void __syncthreads() {
  emulator::words::synchronize_block(false);
}
BANKWISE_WORD int __syncthreads_count(int predicate) {
  return int(emulator::words::synchronize_block(predicate != 0));
}
BANKWISE_WORD int __syncthreads_and(int predicate) {
  return emulator::words::synchronize_block(predicate == 0) == 0;
}
BANKWISE_WORD int __syncthreads_or(int predicate) {
  return emulator::words::synchronize_block(predicate != 0) != 0;
}
BANKWISE_WORD void __syncwarp(unsigned mask = 0xFFFFFFFF) {
  emulator::words::synchronize_warp(mask);
}

// Host memory keeps the order in which lanes access it; only the compiler must keep it, too.
BANKWISE_WORD void __threadfence_block() {
  __asm__ volatile("" ::: "memory");
}
BANKWISE_WORD void __threadfence() {
  __asm__ volatile("" ::: "memory");
}
BANKWISE_WORD void __threadfence_system() {
  __asm__ volatile("" ::: "memory");
}

/// Other lanes run between any two steps.
BANKWISE_WORD void __nanosleep(unsigned) {}

BANKWISE_WORD long long clock64() {
  return emulator::words::clock();
}

[[noreturn]] BANKWISE_WORD void __trap() {
  emulator::words::trap();
}

}  // namespace bankwise::cuda

// C has a function with this name and type, so this one gets another symbol.
extern "C" clock_t clock() noexcept __asm__("bankwise_emulator_clock");

using namespace bankwise::cuda;
