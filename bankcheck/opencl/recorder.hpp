#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <bankwise/support/watch_request.hpp>
#include <bankwise/trace/codec.hpp>
#include "bankcheck/driver/measure.hpp"
#include "bankcheck/driver/recorder.hpp"

namespace bankwise::opencl {

/// The properties of the simulated device: the values of --device-info, each KEY=VALUE, and what `first` has instead of
/// Oclgrind's. Error: UsageError.
std::vector<std::string> device_values(const std::vector<std::string>& device_info, const banks::Architecture& first);

inline constexpr const char* blocks_word = "work-groups";

/// `bankcheck opencl`: runs any OpenCL program under Oclgrind, with a plugin that records.
class Recorder : public driver::ProgramRecorder {
 public:
  Recorder() : driver::ProgramRecorder(blocks_word) {}
  void declare(CLI::App& command) override;
  std::optional<driver::Outcome> run(driver::Reporting& reporting) override;

 private:
  std::vector<std::string> device_info_;  ///< KEY=VALUE
  std::uint64_t local_memory_ = 65536;    ///< bytes that the simulated device reports
  driver::MeasureOptions measure_;
};

/// A program to run under Oclgrind.
struct WatchedRun {
  support::OpenclRequest request;  ///< without its files
  std::vector<std::string> program;
  std::uint64_t local_memory = 0;  ///< bytes that the simulated device reports
  double time_limit = 0;           ///< seconds; 0: none
  bool own_stdout = true;          ///< false: the program's stdout goes to stderr
};

/// Runs it to its end. Error: std::runtime_error if it cannot be started.
driver::Outcome run_watched(WatchedRun run);

/// driver::measure() with other texts in place of those that the program gives to its own OpenCL driver. Errors: those,
/// and std::runtime_error.
int measure_texts(driver::Reporting& reporting, const trace::Trace& trace, const driver::MeasureOptions& options,
                  const WatchedRun& run);

/// A library that is loaded into programs. Error: std::runtime_error if bankcheck has none.
std::filesystem::path find_library(std::string_view name);
inline constexpr std::string_view layer_library = "bankcheck_opencl_layer.so";

/// Recognises Oclgrind's messages in the stderr of a program that Oclgrind runs, while it is written, and keeps the
/// first of each kind. Text of the program is taken for a message only if it has all lines of that message.
class OclgrindMessages {
 public:
  /// The next bytes of stderr. Every message ends with a newline.
  void read(std::string_view bytes);

  std::optional<std::string> fatal_error;       ///< the reason
  std::optional<std::string> lost_plugin;       ///< why it cannot be loaded
  std::optional<std::string> failed_assertion;  ///< in Oclgrind's sources

 private:
  void take(std::string line);

  std::string line_;                   ///< the beginning of the next line
  std::array<std::string, 2> before_;  ///< the two lines before it
};

/// The reason in an error that Oclgrind has logged, if it means that Oclgrind cannot run the kernel.
std::optional<std::string> logged_fatal_error(std::string_view error);

/// What the launch log (launch_log.hpp) says.
struct LaunchLog {
  std::map<long, std::string> unfinished;     ///< by process: the kernel of the launch that has not ended
  std::map<long, int> exits;                  ///< by process: the exit code
  std::optional<std::string> not_all_groups;  ///< the first launch that ended without some work-groups
  std::optional<std::string> unable;          ///< why Oclgrind cannot create or run a kernel: the first reason
  std::vector<std::string> build_messages;    ///< of the compiler, about builds that failed: lines
  bool wants_no_gpu = false;                  ///< a process asked for devices that are no GPUs
};

/// An empty log if there is no such file. Lines that are none of the above are skipped.
LaunchLog read_launch_log(const std::filesystem::path& path);

/// The first failure that applies, in the order of causes.
std::optional<std::string> failure_of(const driver::Ended& ended, const OclgrindMessages& messages,
                                      const trace::TraceFile& file, const LaunchLog& log);

}  // namespace bankwise::opencl
