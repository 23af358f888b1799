// Benchmarks launch a kernel a thousand times on the same data. A launch that repeats an earlier one exactly is not run
// again: its results and its trace are known.
//
// Exactly: the same kernel, configuration and arguments, and the same content of all memory that a kernel can reach,
// that is of all allocations and of the program's variables. A launch that reaches other memory, reads a texture,
// prints or launches kernels is always run. A launch that reads nothing of what it writes would do the same on the
// memory that it leaves.
#pragma once

#include <chrono>
#include <string>

#include <bankwise/emulator/runtime/allocations.hpp>
#include <bankwise/emulator/runtime/launching.hpp>
#include <bankwise/trace/trace.hpp>

namespace bankwise::emulator::runtime {

/// One launch: asks before it runs whether it must, and tells what it did. With several threads, all launches run.
class Repeat {
 public:
  /// `arguments`: their bytes, null if they cannot be compared.
  Repeat(const void* kernel, const Configuration& configuration, const std::string* arguments);
  Repeat(const Repeat&) = delete;
  Repeat& operator=(const Repeat&) = delete;
  ~Repeat();

  /// The trace of the earlier launch, whose results are then in memory; null if the launch must run. `recorded`: the
  /// launch is to be recorded, so the earlier one must have been.
  const trace::KernelTrace* known(bool recorded);
  /// After it has run.
  void ran(const trace::KernelTrace& trace);

 private:
  struct Known;  ///< of equal launches
  void watch_first();
  bool would_repeat();
  bool keep_results();

  Known* known_ = nullptr;
  bool watched_ = false;   ///< the content of memory before it is known
  bool is_first_ = false;  ///< of its kind, and the following are known
  unsigned launches_before_ = 0;
  Digest variables_before_;
  bool recorded_ = false;
  std::chrono::steady_clock::time_point began_{};
};

/// Writes a line after a launch, if a run is to be compared with another: the kernel, and a digest of all allocations.
void note_results(const std::string& kernel);

/// Seconds of the launches that were not run again: events count them.
double seconds_saved();

}  // namespace bankwise::emulator::runtime
