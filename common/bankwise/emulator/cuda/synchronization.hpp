// SPDX-License-Identifier: MIT
//
// Barriers, fences and clocks.
#pragma once

#include <time.h>

#include <bankwise/emulator/cuda/indices.hpp>
#include <bankwise/emulator/lane.hpp>

namespace bankwise::emulator::words {

// Real functions, because the emulator asks where a call returns to: a line of the kernel.

/// Waits for the block. Returns how many say yes.
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

// The host's memory keeps the order in which lanes access it; the compiler has to keep it, too.
BANKWISE_WORD void __threadfence_block() {
  __asm__ volatile("" ::: "memory");
}
BANKWISE_WORD void __threadfence() {
  __asm__ volatile("" ::: "memory");
}
BANKWISE_WORD void __threadfence_system() {
  __asm__ volatile("" ::: "memory");
}

/// Other lanes run in between anyway.
BANKWISE_WORD void __nanosleep(unsigned) {}

BANKWISE_WORD long long clock64() {
  return emulator::words::clock();
}

[[noreturn]] BANKWISE_WORD void __trap() {
  emulator::words::trap();
}

}  // namespace bankwise::cuda

// C has a function of this name and type, so here it gets another symbol.
extern "C" clock_t clock() noexcept __asm__("bankwise_emulator_clock");

using namespace bankwise::cuda;
