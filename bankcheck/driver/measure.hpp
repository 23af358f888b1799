// Candidates of `fit`, measured: versions of the user's program, which run in turn without being watched.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include <bankwise/trace/trace.hpp>
#include "bankcheck/driver/recorder.hpp"

namespace bankwise::driver {

struct MeasureOptions {
  bool measure = false;
  unsigned candidates = 3;  ///< at most, of each kernel
  double seconds = 60;      ///< spent on the runs in turn
};

/// Adds --measure, --candidates and --measure-time to a command.
void declare_measure(CLI::App& command, MeasureOptions& options);

/// All launches of a kernel in one run.
struct LaunchTimes {
  std::uint64_t launches = 0, nanoseconds = 0;
};

/// One run of a version.
struct TimedRun {
  std::optional<std::string> failure;          ///< why it does not count: a sentence
  bool interrupted = false;                    ///< a signal to bankcheck ended it
  std::string output;                          ///< what it wrote to stdout, or its beginning
  std::map<std::string, LaunchTimes> kernels;  ///< by trace::KernelTrace::kernel
  std::string device;                          ///< that ran the kernels: "NVIDIA H200"
};

/// What a recorder can do with versions of its program. Version 0 is the program as it is, and is made first.
struct ProgramVersions {
  /// Makes a version with these sources, with a new time, in place of the user's. Returns why it cannot be made: a
  /// sentence.
  std::function<std::optional<std::string>(std::size_t version, const FixedSources& sources)> make;
  /// Runs a version without watching it, with nothing to read; its output is not shown.
  std::function<TimedRun(std::size_t version)> time;
  /// Runs a version as the program was watched.
  std::function<Outcome(std::size_t version)> watch;
  /// What is changed: false: files; true: the texts that the program gives to its OpenCL driver.
  bool by_text = false;
};

/// Makes a version of the program for each of the best candidates, runs all of them in turn until the noise allows a
/// verdict, compares their stdout, watches the fastest, and prints which candidates pay. Returns exit_ok; or exit_wrong
/// if something is proposed and no candidate has a verdict, or if the version that is watched fails or lacks the
/// changes. The verdicts become a part of the report. Errors: CommandFailed if the program as it is cannot be made or
/// fails; those of `program`; std::runtime_error if the report cannot be written.
int measure(Reporting& reporting, const trace::Trace& trace, const MeasureOptions& options,
            const ProgramVersions& program);

}  // namespace bankwise::driver
