#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <bankwise/support/watch_request.hpp>
#include "bankcheck/cuda/record.hpp"
#include "bankcheck/cuda/times.hpp"
#include "bankcheck/driver/measure.hpp"
#include "bankcheck/driver/recorder.hpp"

namespace bankwise::cuda {

/// `bankcheck cuda`: runs any CUDA program on an NVIDIA GPU, with a library in it that records.
class Recorder : public driver::ProgramRecorder {
 public:
  Recorder() : driver::ProgramRecorder("blocks") { options.report.architectures.clear(); }  // by default the GPU's
  void declare(CLI::App& command) override;
  std::optional<driver::Outcome> run(driver::Reporting& reporting) override;

 private:
  std::string sanitizer_;                ///< directory of libsanitizer-public.so; empty: it is looked for
  std::uint64_t table_mebibytes_ = 256;  ///< device memory for each context
  bool time_ = false;                    ///< run the program again, without watching it, for the times of its kernels
  driver::MeasureOptions measure_;
  std::string build_;                ///< for measure_: the shell command that builds the program
  std::vector<std::string> copied_;  ///< for measure_: what is copied although git ignores it
};

// --- Runs of a CUDA program: watched, or timed without being watched ---

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

// --- Copies of the directory tree that a program is built in ---

/// The files to copy.
struct SourceTree {
  std::filesystem::path root;                ///< canonical
  std::vector<std::filesystem::path> files;  ///< relative to the root: files, symbolic links, whole directories
};

/// Limits of a copy.
inline constexpr std::size_t most_files = 100'000;
inline constexpr std::uintmax_t most_bytes = std::uintmax_t{512} << 20;

/// In a work tree of git: all files that git does not ignore, and `also`. Elsewhere: all files below the directory.
/// Error: UsageError if these are more than the limits, or if one of `also` does not lie in the tree.
SourceTree find_tree(const std::filesystem::path& directory, const std::vector<std::string>& also);

/// Copies the files, with their times, so that `make` builds no more than it would in the tree. Symbolic links lead to
/// the copy if they lead into the tree, otherwise to where they did. The parent of `to` is not copied. Error:
/// std::filesystem::filesystem_error.
void copy_tree(const SourceTree& tree, const std::filesystem::path& to);

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
