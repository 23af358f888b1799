// SPDX-License-Identifier: MIT
//
// How the emulator is told what to run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <bankwise/emulator/dim3.hpp>
#include <bankwise/trace/trace.hpp>

namespace bankwise::emulator {

/// What a launch gives: the kernel's trace of one launch, whose warps are Launch::warp wide.
using Trace = trace::KernelTrace;

/// How a kernel is launched, and how it is watched.
struct Launch {
  Dim3 grid{}, block{};            ///< as in <<<grid, block>>>: no dimension is 0, a block has at most 1024 threads
  std::size_t dynamic_shared = 0;  ///< bytes of `extern __shared__` arrays, at most 227 KiB
  unsigned warp = 32;              ///< lanes of a warp, 1 to 64
  std::vector<std::uint64_t> trace_blocks{0};  ///< linear numbers of the blocks that are recorded
  bool run_traced_only = false;  ///< leaves all other blocks out: quick, and the kernel's results are incomplete
  /// Of the host, at most 16, as far as there is memory for stacks; they take the blocks in order. 0: one for each
  /// core.
  unsigned threads = 0;
  std::uint64_t step_limit = std::uint64_t{1} << 26;  ///< steps that the warps of a block may take
  /// Memory for patterns, of a block and of the launch. Accesses without room are counted, and the report says so.
  std::size_t pattern_bytes = std::size_t{256} << 20;
  bool record_order = false;                        ///< fills Trace::order: all accesses, one after another
  std::size_t access_limit = std::size_t{1} << 22;  ///< accesses of a traced block whose order may be recorded
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

}  // namespace bankwise::emulator
