// SPDX-License-Identifier: MIT
//
// What main programs that measure have in common: flags, lists, the choice of devices, one device after another, exit codes.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <bankwise/bench/measure.hpp>
#include <bankwise/bench/options.hpp>
#include <bankwise/gpu/device.hpp>
#include <bankwise/gpu/session.hpp>
#include <bankwise/study/result.hpp>

namespace bankwise {

/// Opens a device: gpu::open, or what a test has in its place.
using Opener = std::function<std::unique_ptr<gpu::Session>(const gpu::DeviceInfo&)>;

/// A device and the problem that it gets.
struct Job {
  const gpu::DeviceInfo* device;
  Extent extent;
  Opener open = gpu::open;
};

/// What sets a program apart.
struct Program {
  Offered offered;
  /// The extent for a device where the command line names none.
  std::function<Extent(const CaseStudy&, const Options&, const gpu::DeviceInfo&)> extent;
  /// Measures (see run_each) and reports. The report comes with its devices and no results. False if a device failed as a
  /// whole.
  std::function<bool(const CaseStudy&, const Options&, std::span<const Job>, Report&)> run;
  Opener open = gpu::open;
};

/// A main program: reads the command line, answers --list and --devices, takes the kernels from --kernel-dir, chooses the
/// devices and runs. Returns the exit code (support/exit_code.hpp); what goes wrong is a line on stderr. A device whose
/// memory is too small is left out, with a sentence; the others run.
int run_program(const CaseStudy& study, int argc, const char* const* argv, const Program& program);

/// Calls `run` for one job after another. One that throws costs the others nothing: it gets a sentence on stderr, and the
/// function returns false in the end.
bool run_each(std::string_view program, std::span<const Job> jobs, const std::function<void(const Job&)>& run);

/// Measures on one device, with a bar on stderr if a person is looking. Errors: those of measure().
std::vector<Result> measure_on(const Job& job, const CaseStudy& study, const Options& options,
                               const Manner& manner = {});

/// Text on stdout. Error: std::runtime_error if it does not get there, a full disk for example.
void show(const std::string& text);

}  // namespace bankwise
