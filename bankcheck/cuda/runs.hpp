// Runs of a CUDA program: watched, or timed without being watched.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <bankwise/support/watch_request.hpp>
#include "bankcheck/cuda/record.hpp"
#include "bankcheck/cuda/times.hpp"
#include "bankcheck/cuda/tree_copy.hpp"
#include "bankcheck/driver/measure.hpp"
#include "bankcheck/driver/recorder.hpp"

namespace bankwise::cuda {

/// What is run, and where.
struct Place {
  std::filesystem::path program;     ///< the file of the first word; not relative if there is a directory
  std::vector<std::string> command;  ///< as the user writes it
  std::filesystem::path directory;   ///< empty: the current one
};

/// How to watch.
struct Watching {
  std::filesystem::path injection;  ///< the library for the CUDA driver to load
  support::CudaRequest request;     ///< without the folder
  double time_limit = 0;            ///< seconds; 0: none
};

struct WatchedRun {
  std::vector<std::string> command;
  driver::Ended ended;
  std::vector<ProcessRecord> records;
  std::vector<std::string> errors;  ///< records that cannot be read: a sentence each
};

/// Runs the program to its end, and watches it. The records name files in the folder. Error: std::runtime_error if it
/// cannot be started.
WatchedRun watch(const Watching& watching, const Place& place, bool own_stdout, const driver::TemporaryFolder& folder);

/// What a watched run has shown, and how it ended.
driver::Outcome outcome_of(WatchedRun run, const Watching& watching,
                           const std::vector<const banks::Architecture*>& architectures, const MatchedTimes& times,
                           const driver::TemporaryFolder& folder);

/// What a timed run needs.
struct Timer {
  std::filesystem::path injection, cupti;
};

struct UnwatchedRun {
  driver::Ended ended;
  std::vector<ProcessTimes> processes;
  std::vector<std::string> errors;  ///< times that cannot be read: a sentence each
};

/// Runs the program without watching it; it reads nothing. `wait` says what becomes of its output. Error: as watch().
UnwatchedRun run_unwatched(const Timer& timer, const Place& place, driver::Wait wait,
                           const driver::TemporaryFolder& folder);

/// Runs the program again, for --time. The kernels have no times if that fails.
MatchedTimes time_kernels(const Timer& timer, const Place& place, double time_limit,
                          const driver::TemporaryFolder& folder, const std::vector<ProcessRecord>& records);

/// A program that the user can build in a copy of its sources.
struct BuiltProgram {
  SourceTree tree;
  std::string build;                 ///< a shell command
  std::vector<std::string> command;  ///< the program and its arguments
  Watching watching;
  Timer timer;
};

/// driver::measure() with versions that are built in copies of the tree. Errors: those, and those of copy_tree().
int measure_copies(driver::Reporting& reporting, const trace::Trace& trace, const driver::MeasureOptions& options,
                   const BuiltProgram& program);

}  // namespace bankwise::cuda
