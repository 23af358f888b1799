// SPDX-License-Identifier: MIT
//
// What the main programs that measure share: flags, lists, the choice of devices, one device after another, exit codes.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <bankwise/bench/measure.hpp>
#include <bankwise/bench/options.hpp>
#include <bankwise/gpu/device.hpp>
#include <bankwise/gpu/session.hpp>
#include <bankwise/study/result.hpp>
#include <bankwise/support/exit_code.hpp>
#include <bankwise/support/files.hpp>

namespace bankwise::bench {

/// Opens a device: gpu::open, or a replacement in a test.
using Opener = std::function<std::unique_ptr<gpu::Session>(const gpu::DeviceInfo&)>;

/// A device and the problem that it runs.
struct DeviceJob {
  const gpu::DeviceInfo* device;
  Extent extent;
  Opener open = gpu::open;
};

/// What one program has and others do not.
struct MainProgram {
  Offered offered;
  /// The extent for a device if the command line names none.
  std::function<Extent(const CaseStudy&, const Options&, const gpu::DeviceInfo&)> extent;
  /// The results on one device. Errors: those of measure().
  std::function<std::vector<Result>(const DeviceJob&, const CaseStudy&, const Options&)> measure;
  /// Writes the reports to the files of Options::outputs.
  std::function<void(std::span<const OutputFile>, const RunResults&)> write;
  Opener open = gpu::open;
};

/// A main program: reads the command line, answers --list and --devices, takes the kernels from --kernel-dir, chooses
/// the devices and runs. Returns the exit code (support/exit_code.hpp); each failure is one line on stderr. A device
/// whose memory is too small is skipped with a message; the others run.
int run_program(const CaseStudy& study, int argc, const char* const* argv, const MainProgram& program);

/// Calls `run` for one job after another. If one throws, the others still run: the error is printed on stderr, and the
/// function returns false at the end.
bool run_each(std::string_view program, std::span<const DeviceJob> jobs,
              const std::function<void(const DeviceJob&)>& run);

/// Measures on one device, with a progress bar if stderr is a terminal. Errors: those of measure().
std::vector<Result> measure_on(const DeviceJob& job, const CaseStudy& study, const Options& options,
                               Manner manner = {});

/// Answers --list and --devices, and returns the exit code. Empty if the command line asked for neither.
std::optional<int> answer_lists(const CaseStudy& study, const Options& options);

/// The exit code of a run: a wrong result first, then a failure, then whether any variant ran at all.
int exit_code(std::span<const Result> results, const Options& options, bool complete);

/// An exception as a sentence for the user.
std::string sentence_of(const std::exception& error);

/// Prints "program: sentence" on stderr. Returns the code.
ExitCode report_failure(std::string_view program, std::string_view sentence, ExitCode code = exit_device);

/// Prints text on stdout. Error: std::runtime_error if that fails, for example on a full disk.
void show(const std::string& text);

}  // namespace bankwise::bench
