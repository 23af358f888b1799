// The parameters of an emulated launch, and the fault that ends it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
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
  /// Different patterns of global memory that a launch records; the rest is costed at once. 0: global memory is not
  /// watched. Addresses count from a multiple of 128 bytes, so arrays should begin at one, as on a GPU.
  std::size_t global_patterns = 0;
  /// The architecture, by its name in the bank model, whose sectors these costs are in. For those with other sectors
  /// they are unknown.
  std::string sectors_of = "sm_90";
  bool record_order = false;                        ///< fills the trace's order: all accesses, one after another
  std::size_t access_limit = std::size_t{1} << 22;  ///< accesses of a traced block whose order may be recorded
  bool source_lines = true;                         ///< records source lines, which the program's debug information has
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
  /// Ends the launch once it is true, if it is not null; the trace has what was recorded until then.
  const std::atomic<bool>* stop = nullptr;
  std::atomic<std::uint64_t>* blocks_done = nullptr;  ///< counts blocks that have ended, if it is not null
  bool names_flags = false;         ///< messages name the flags of bankcheck, not the members of Launch
  std::vector<trace::Fault> allow;  ///< faults that are not diagnosed, unless they end the launch
};

/// A kernel with its arguments bound.
struct BoundKernel {
  void (*call)(const void* arguments) = nullptr;  ///< runs it for the lane that calls
  const void* arguments = nullptr;
  const void* entry = nullptr;  ///< the kernel's address, for its name; null: where the lanes begin
};

/// The faults of a kernel that the emulator finds; the table in trace/fault.hpp describes them.
using trace::Fault;
using trace::to_string;

/// Thrown by emulate() if Launch::fatal is set. what() is a sentence that contains all of the members below.
class Diagnosis : public std::runtime_error {
 public:
  Diagnosis(Fault fault_, trace::Site site_, Dim3 block_, std::vector<unsigned> lanes_, const std::string& sentence)
      : std::runtime_error(sentence), fault(fault_), site(std::move(site_)), block(block_), lanes(std::move(lanes_)) {}

  Fault fault;
  trace::Site site;             ///< as far as it is known
  Dim3 block;                   ///< blockIdx
  std::vector<unsigned> lanes;  ///< linear numbers in the block, of the lanes at fault
};

}  // namespace bankwise::emulator
