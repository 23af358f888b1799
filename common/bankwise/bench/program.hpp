// What the main programs that measure share: measurement, lists, the choice of devices, exit codes.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <bankwise/banks/architecture.hpp>
#include <bankwise/bench/sampling.hpp>
#include <bankwise/bench/workbench.hpp>
#include <bankwise/gpu/device.hpp>
#include <bankwise/gpu/session.hpp>
#include <bankwise/report/sink.hpp>
#include <bankwise/study/result.hpp>
#include <bankwise/support/exit_code.hpp>
#include <bankwise/support/files.hpp>

namespace bankwise::bench {

/// The command line of a case study, parsed and checked as far as possible without a device.
struct Options {
  bool list = false;
  bool list_devices = false;
  bool bandwidth = false;               ///< measure the bandwidths of L2 and DRAM, and nothing else
  std::optional<gpu::Api> api;          ///< empty: both
  std::string device;                   ///< index or part of a name; empty: the best device of each API
  std::vector<std::string> variants;    ///< empty: all
  std::optional<study::Extent> extent;  ///< empty: a default that suits the device and the scope
  study::Scope scope = study::Scope::memory;
  study::Cache cache = study::Cache::cold;
  StopLimits limits;
  bool profile = false;
  bool levels = true;     ///< emulate the CUDA kernels and report their passes and active lanes
  bool counters = false;  ///< read hardware counters after measuring
  const banks::Architecture* architecture = nullptr;  ///< for the bank model; null: the device's architecture
  std::vector<report::Output> outputs;
  std::string compare, kernel_directory;
};

/// Flags that not every program offers.
struct Offered {
  bool scopes = true;      ///< --scope and --cache; programs without them measure with hot caches
  bool levels = true;      ///< --levels
  bool bandwidth = false;  ///< --bandwidth
  std::vector<report::Output> outputs{};
};

/// Reads the command line. Empty after --help or --version, which it answers. Errors: UsageError.
std::optional<Options> parse_options(const study::CaseStudy& study, int argc, const char* const* argv,
                                     const Offered& offered = {});

/// What measure() may be told beyond the options.
struct Manner {
  bool copy = true;    ///< whether to measure a copy of memory, the reference of the other rows
  bool timing = true;  ///< false: only verify each variant
  /// Called after each sample of a variant, when the device is idle.
  std::function<void(Workbench&, const PreparedVariant&)> after_sample;
  /// Called now and then with the progress, from 0 to 1, and the current activity.
  std::function<void(double done, std::string_view activity)> on_progress = [](double, std::string_view) {};
  /// Drops and counts the samples during which it reports throttling. Null: throttling is unknown, all samples count.
  gpu::Throttle* throttle = nullptr;
  Cluster cluster;
};

/// Runs the selected variants of `study`: verifies, measures in interleaved rounds, verifies again. Returns one result
/// per variant, in the order of the table of contents, copy first (unless --profile or `manner` leaves it out). A
/// variant that fails is a result with its reason. A failure that affects all variants is thrown: gpu::Error,
/// std::bad_alloc.
///
/// On several ranks the variants are RankStudy's, and the times of the exchanges and of the launches of a plan with
/// both are measured separately, too. All ranks call it, and return the same results: the rows copy, peer_copy and
/// alone, then the variants. A variant that all ranks refuse is a result with its reason. Any other failure ends all
/// ranks, with one sentence on stderr and exit code 3. Error: cluster::Refused if the shares are too large.
std::vector<study::Result> measure(const study::CaseStudy& study, const Options& options, study::Extent extent,
                                   gpu::Session& session, const Manner& manner = {});

/// Opens a device: gpu::open, or a replacement in a test.
using Opener = std::function<std::unique_ptr<gpu::Session>(const gpu::DeviceInfo&)>;

/// A device and the problem that it runs.
struct DeviceJob {
  const gpu::DeviceInfo* device;
  study::Extent extent;
  Opener open = gpu::open;
};

/// What one program has and others do not.
struct MainProgram {
  Offered offered;
  /// The extent for a device if the command line names none.
  std::function<study::Extent(const study::CaseStudy&, const Options&, const gpu::DeviceInfo&)> extent;
  /// The results on one device. Errors: those of measure().
  std::function<std::vector<study::Result>(const DeviceJob&, const study::CaseStudy&, const Options&)> measure;
  /// Writes the reports to the files of Options::outputs.
  std::function<void(std::span<const support::OutputFile>, const study::RunResults&)> write;
  Opener open = gpu::open;
};

/// A main program: reads the command line, answers --list and --devices, takes the kernels from --kernel-dir, chooses
/// the devices and runs. Returns the exit code (support/exit_code.hpp); each failure is one line on stderr. A device
/// whose memory is too small is skipped with a message; the others run.
int run_program(const study::CaseStudy& study, int argc, const char* const* argv, const MainProgram& program);

/// Calls `run` for each job. If one throws, the others still run: its error goes to stderr, and the result is false.
bool run_each(std::string_view program, std::span<const DeviceJob> jobs,
              const std::function<void(const DeviceJob&)>& run);

/// Measures on one device, with a progress bar if stderr is a terminal. Errors: those of measure().
std::vector<study::Result> measure_on(const DeviceJob& job, const study::CaseStudy& study, const Options& options,
                                      Manner manner = {});

/// Answers --list and --devices, and returns the exit code. Empty if the command line asked for neither.
std::optional<int> answer_lists(const study::CaseStudy& study, const Options& options);

/// The exit code of a run: a wrong result first, then a failure, then whether any variant ran at all.
int exit_code(std::span<const study::Result> results, const Options& options, bool complete);

/// An exception as a sentence for the user.
std::string sentence_of(const std::exception& error);

/// Prints "program: sentence" on stderr. Returns the code.
support::ExitCode report_failure(std::string_view program, std::string_view sentence,
                                 support::ExitCode code = support::exit_device);

/// A case study that reads its OpenCL sources from a directory instead of the program, so you can edit a kernel without
/// a build. All of its .cl files must exist, and their requirements on devices hold. It has no CUDA kernels.
class KernelDirectory {
 public:
  /// Error: UsageError.
  KernelDirectory(const study::CaseStudy& study, const std::string& directory);
  KernelDirectory(const KernelDirectory&) = delete;
  KernelDirectory& operator=(const KernelDirectory&) = delete;

  const study::CaseStudy& study() const { return study_; }

 private:
  study::CaseStudy study_;
  std::deque<std::string> texts_;  // a deque: the images refer to its strings
  std::vector<gpu::KernelImage> images_;
  gpu::KernelSet kernels_;
};

/// Prints text on stdout. Error: std::runtime_error if that fails, for example on a full disk.
void show(const std::string& text);

}  // namespace bankwise::bench
