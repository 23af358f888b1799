// SPDX-License-Identifier: MIT
//
// The parameters of an emulated launch.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <bankwise/emulator/core/kernel_code.hpp>
#include <bankwise/trace/trace.hpp>

namespace bankwise::emulator {

/// How to launch a kernel, and what to record.
struct Launch {
  Dim3 grid{}, block{};            ///< as in <<<grid, block>>>: no dimension is 0, a block has at most 1024 threads
  std::size_t dynamic_shared = 0;  ///< bytes of `extern __shared__` arrays, at most 227 KiB
  unsigned warp = 32;              ///< lanes of a warp, 1 to 64
  std::vector<std::uint64_t> trace_blocks{0};  ///< linear numbers of the blocks that are recorded
  bool run_traced_only = false;  ///< skips all other blocks: fast, but the kernel's results are incomplete
  /// Host threads, at most 16, as far as there is memory for stacks; they run the blocks in order. 0: one per core.
  unsigned threads = 0;
  std::uint64_t step_limit = std::uint64_t{1} << 26;  ///< steps that the warps of a block may take
  /// Memory for patterns, per block and per launch. Accesses that do not fit are counted, and the report says so.
  std::size_t pattern_bytes = std::size_t{256} << 20;
  bool record_order = false;                        ///< fills the trace's order: all accesses, one after another
  std::size_t access_limit = std::size_t{1} << 22;  ///< accesses of a traced block whose order may be recorded
  bool source_lines = true;  ///< records source lines; reading the program's debug information takes 0.1 to 0.2 s
  /// Lanes that have returned count as arrived at a barrier, as on compute capability 7.0 and newer; CUDA does not
  /// guarantee that.
  bool returned_lanes_arrive = false;
  /// Lanes of one warp need no __syncwarp() between their accesses, as before compute capability 7.0.
  bool warp_synchronous = false;
  /// All blocks run simultaneously, each on one host thread, so grid.sync() works. For small grids.
  bool cooperative = false;
  /// If true, a fault throws a Diagnosis and ends the launch. If false, it is listed in the trace's diagnoses, once
  /// for each place, and the launch continues if it can (docs/emulator.md lists after which faults); ended_by() returns
  /// the fault that ended it, if any.
  bool fatal = true;
  std::atomic<std::uint64_t>* blocks_done = nullptr;  ///< counts blocks that have ended, if it is not null
  std::vector<trace::Fault> allow;                    ///< faults that are not diagnosed, unless they end the launch
};

/// A kernel with its arguments bound.
struct BoundKernel {
  void (*call)(const void* arguments) = nullptr;  ///< runs it for the lane that calls
  const void* arguments = nullptr;
  const void* entry = nullptr;  ///< the kernel's address, for its name; null: where the lanes begin
};

}  // namespace bankwise::emulator
