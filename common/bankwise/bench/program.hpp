// What the main programs that measure share: the measurement on a device, lists, the choice of devices, one device
// after another, exit codes.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <bankwise/bench/options.hpp>
#include <bankwise/bench/workbench.hpp>
#include <bankwise/gpu/device.hpp>
#include <bankwise/gpu/session.hpp>
#include <bankwise/gpu/throttle.hpp>
#include <bankwise/study/result.hpp>
#include <bankwise/support/exit_code.hpp>
#include <bankwise/support/files.hpp>

namespace bankwise::bench {

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
  std::function<void(std::span<const OutputFile>, const study::RunResults&)> write;
  Opener open = gpu::open;
};

/// A main program: reads the command line, answers --list and --devices, takes the kernels from --kernel-dir, chooses
/// the devices and runs. Returns the exit code (support/exit_code.hpp); each failure is one line on stderr. A device
/// whose memory is too small is skipped with a message; the others run.
int run_program(const study::CaseStudy& study, int argc, const char* const* argv, const MainProgram& program);

/// Calls `run` for one job after another. If one throws, the others still run: the error is printed on stderr, and the
/// function returns false at the end.
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
ExitCode report_failure(std::string_view program, std::string_view sentence, ExitCode code = exit_device);

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
