// SPDX-License-Identifier: MIT
//
// Runs a CUDA kernel's own source on the CPU, its warps in lock-step, and records what they do with shared memory.
//
//   #include <bankwise/emulator/cuda.hpp>  // CUDA's words, for g++
//   #include "my_kernel.cuh"
//   ...
//   const auto trace = bankwise::emulate(my_kernel, {.grid = 64, .block = {32, 8}}, in, out, n);
//   CHECK(bankwise::conflicts(trace, "sm_90") == 0);
//
// The source that holds the kernel must be compiled for it: bankwise_emulate() of the CMake package does that.
#pragma once

#include <type_traits>

#include <bankwise/emulator/diagnosis.hpp>
#include <bankwise/emulator/launch.hpp>

namespace bankwise::emulator {

/// Runs the grid; several threads of the host may do so at a time. Errors: Diagnosis for what the kernel does wrong;
/// std::invalid_argument for a launch that is none; std::runtime_error if the system has no stacks for a block.
Trace run(const Launch& launch, const BoundKernel& kernel);

// What stands between the emulator and the kernel does not count as the kernel's.
#ifdef __clang__
#define BANKWISE_NOT_THE_KERNEL
#else
#define BANKWISE_NOT_THE_KERNEL __attribute__((no_sanitize("thread"), no_sanitize_coverage))
#endif

}  // namespace bankwise::emulator

namespace bankwise {

/// Runs a kernel. Its arguments are converted to its parameters' types; what pointers point at must exist, and is
/// read and written as on a device. Errors: as emulator::run().
template <class... Parameters, class... Arguments>
requires(std::is_convertible_v<Arguments, Parameters>&&...) emulator::Trace
    emulate(void (*kernel)(Parameters...), const emulator::Launch& launch, Arguments&&... arguments) {
  const auto lane = [kernel, ... values = static_cast<Parameters>(arguments)]()
                        BANKWISE_NOT_THE_KERNEL { kernel(values...); };
  using Lane = decltype(lane);
  const auto call = [](const void* bound) BANKWISE_NOT_THE_KERNEL { (*static_cast<const Lane*>(bound))(); };
  return emulator::run(launch, {call, &lane, reinterpret_cast<const void*>(kernel)});
}

}  // namespace bankwise
