#include "bankcheck/cuda/recorder.hpp"

#include <fmt/format.h>
#include <sys/wait.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <stdexcept>
#include <utility>

#include <bankwise/support/exit_code.hpp>
#include <bankwise/support/text.hpp>
#include <bankwise/support/watch_request.hpp>
#include "bankcheck/cuda/record.hpp"
#include "bankcheck/driver/files.hpp"

namespace bankwise::cuda {
namespace {

namespace fs = std::filesystem;
using namespace driver;

std::vector<ProcessRecord> records_in(const fs::path& folder, std::vector<std::string>& errors) {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".record") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<ProcessRecord> records;
  for (const fs::path& path : paths) {
    try {
      records.push_back(read_record(path));
    } catch (const std::runtime_error& error) {
      errors.emplace_back(error.what());
    }
  }
  return records;
}

/// The GPUs' own. Error: std::runtime_error for one that the bank model lacks.
std::vector<const banks::Architecture*> architectures_of(const std::vector<ProcessRecord>& records) {
  std::vector<const banks::Architecture*> architectures;
  for (const ProcessRecord& record : records) {
    for (const auto& [id, device] : record.devices) {
      const banks::Architecture* architecture = architecture_of(device);
      if (architecture == nullptr) {
        throw std::runtime_error(
            fmt::format("the bank model does not know the {} (compute capability {}.{}): please name the architecture "
                        "that comes nearest with --arch",
                        device.name, device.major, device.minor));
      }
      if (std::find(architectures.begin(), architectures.end(), architecture) == architectures.end())
        architectures.push_back(architecture);
    }
  }
  return architectures;
}

/// The first failure that applies, in the order of causes.
std::optional<std::string> failure_of(const Ended& ended, const std::vector<ProcessRecord>& records,
                                      const trace::Trace& trace) {
  if (auto failure = driver::failure_of(ended)) {
    if (WIFEXITED(ended.status) && !ended.out_of_time && !trace.errors.empty()) {
      *failure += "; " + trace.errors.front();  // which may be why
    }
    return failure;
  }
  if (!trace.errors.empty()) return trace.errors.front();
  const std::string program = in_quotes(ended.program);
  if (records.empty()) return fmt::format("the program {} did not use CUDA, or cleared its environment", program);
  if (trace.kernels.empty()) return fmt::format("the program {} ran no kernel that was watched", program);
  return std::nullopt;
}

}  // namespace

void Recorder::declare(CLI::App& command) {
  command.footer(
      "The program and its arguments follow --.\n"
      "Exit codes: 0 ok, 1 more conflicts than allowed, 2 usage, 3 the program failed, or could not be\n"
      "watched, 77 there is no NVIDIA GPU, and the program was not run.\n"
      "Example: bankcheck cuda --arch sm_90 --max-conflicts 0 -- python3 train.py");
  command.get_option("--arch")->description("Architectures, separated by commas (default: the GPU's)");
  command
      .add_option("--table", table_mebibytes_,
                  "MiB of device memory per CUDA context for the table of distinct accesses")
      ->check(CLI::Range(std::uint64_t{8}, std::uint64_t{1} << 16))
      ->capture_default_str();
  command.add_option("--sanitizer", sanitizer_, "Directory of libsanitizer-public.so (default: the CUDA Toolkit's)");
}

std::optional<Outcome> Recorder::run(Reporting& reporting) {
  if (options.program.empty()) throw UsageError("no program given: it follows --; see bankcheck cuda --help");
  const fs::path injection = find_injection(), sanitizer = find_sanitizer(sanitizer_);
  check_program(options.program.front());
  check_gpu_present();
  const TemporaryFolder folder;
  setenv("CUDA_INJECTION64_PATH", injection.c_str(), 1);
  write_request(support::CudaRequest{
      .folder = folder.path(),
      .sanitizer = sanitizer,
      .kernels = std::exchange(options.report.kernels, {}),  // globs of what is watched; all of it is reported
      .max_launches = options.max_launches,
      .max_blocks = options.max_groups,
      .table_bytes = table_mebibytes_ << 20});
  const Ended ended = start_and_wait(find_program(options.program.front()), options.program,
                                     {.own_stdout = !reporting.quiet(), .time_limit = options.time_limit});

  std::vector<std::string> errors;
  const std::vector<ProcessRecord> records = records_in(folder.path(), errors);
  if (reporting.architectures().empty()) reporting.report_on(architectures_of(records));
  Resolved resolved = resolve(records, reporting.architectures());
  Outcome outcome{.trace = std::move(resolved.trace), .incomplete = std::move(resolved.left_out)};
  outcome.trace.command = options.program;
  outcome.trace.errors.insert(outcome.trace.errors.end(), errors.begin(), errors.end());
  outcome.failure = failure_of(ended, records, outcome.trace);
  add_end(outcome, ended, folder, injection.filename().string());
  outcome.remarks.clear();  // many programs leave some process without CUDA in the background
  return outcome;
}

}  // namespace bankwise::cuda
