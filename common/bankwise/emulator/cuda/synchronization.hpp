// SPDX-License-Identifier: MIT
//
// Barriers, fences and clocks.
#pragma once

#include <time.h>

#include <bankwise/emulator/cuda/indices.hpp>

namespace bankwise::emulator::device {

// Not inlined, because the emulator reads the return address: a line of the kernel.

/// Waits for the block. Returns the number of lanes with `says_yes`.
unsigned synchronize_block(bool says_yes) noexcept;
/// Waits for the lanes that `mask` names, see warp.hpp.
void synchronize_warp(unsigned mask) noexcept;
long long clock() noexcept;
void fence() noexcept;
[[noreturn]] void trap() noexcept;

}  // namespace bankwise::emulator::device

namespace bankwise::emulator::cuda {

BANKWISE_DEVICE void __syncthreads() { device::synchronize_block(false); }
BANKWISE_FUNCTION(int, __syncthreads_count, (int predicate), int(device::synchronize_block(predicate != 0)))
BANKWISE_FUNCTION(int, __syncthreads_and, (int predicate), device::synchronize_block(predicate == 0) == 0)
BANKWISE_FUNCTION(int, __syncthreads_or, (int predicate), device::synchronize_block(predicate != 0) != 0)
BANKWISE_DEVICE void __syncwarp(unsigned mask = 0xFFFFFFFF) { device::synchronize_warp(mask); }

// Host memory keeps the order in which lanes access it; the compiler keeps it across the call, too.
BANKWISE_DEVICE void __threadfence_block() { device::fence(); }
BANKWISE_DEVICE void __threadfence() { device::fence(); }
BANKWISE_DEVICE void __threadfence_system() { device::fence(); }

/// Other lanes run between any two steps.
BANKWISE_DEVICE void __nanosleep(unsigned) {}

BANKWISE_FUNCTION(long long, clock64, (), device::clock())

[[noreturn]] BANKWISE_DEVICE void __trap() { device::trap(); }

}  // namespace bankwise::emulator::cuda

// C has a function with this name and type, so this one gets another symbol.
extern "C" clock_t clock() noexcept __asm__("bankwise_emulator_clock");
