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

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include <bankwise/emulator/diagnosis.hpp>
#include <bankwise/emulator/trace.hpp>

namespace bankwise::emulator {

/// How a kernel is launched, and how it is watched.
struct Launch {
  Dim3 grid{}, block{};            ///< as in <<<grid, block>>>: no dimension is 0, a block has at most 1024 threads
  std::size_t dynamic_shared = 0;  ///< bytes of `extern __shared__` arrays, at most 227 KiB
  unsigned warp = 32;              ///< lanes of a warp, 1 to 64
  std::vector<std::uint64_t> trace_blocks{0};  ///< linear numbers of the blocks that are recorded
  bool run_traced_only = false;  ///< leaves all other blocks out: quick, and the kernel's results are incomplete
  unsigned threads =
      0;  ///< of the host, at most 16, as far as there is memory for stacks. 0: one for each of its cores
  std::uint64_t step_limit = std::uint64_t{1} << 26;  ///< steps that the warps of a block may take
  std::size_t access_limit = std::size_t{1} << 22;    ///< accesses of a traced block that may be recorded
  bool source_lines = true;  ///< of the accesses; reading the program's debug information takes a moment
  /// Compute capability 7.0 and newer let a barrier pass without lanes that have returned; CUDA does not promise it.
  bool returned_lanes_arrive = false;
  /// Lanes of one warp need no __syncwarp() between their accesses, as before compute capability 7.0.
  bool warp_synchronous = false;
};

/// A kernel with its arguments bound.
struct BoundKernel {
  void (*call)(const void* arguments) = nullptr;  ///< runs it for the lane that calls
  const void* arguments = nullptr;
  const void* entry = nullptr;  ///< the kernel's address, for its name
};

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
