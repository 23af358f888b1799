// SPDX-License-Identifier: MIT
#include "bankcheck/cuda/cuda_run.hpp"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string_view>

#include <bankwise/support/in_quotes.hpp>
#include "bankcheck/cuda/gpu_present.hpp"
#include "bankcheck/cuda/record.hpp"
#include "bankcheck/cuda/resolve.hpp"
#include "bankcheck/driver/child_process.hpp"

namespace bankwise::cuda {
namespace {

namespace fs = std::filesystem;
using namespace driver;

constexpr std::string_view library = "libsanitizer-public.so";

/// Directories where the CUDA Toolkit and NVIDIA's Python package put the Sanitizer library.
std::vector<fs::path> usual_places() {
  std::vector<fs::path> toolkits;
  for (const char* variable : {"CUDA_PATH", "CUDA_HOME"}) {
    if (const char* path = std::getenv(variable); path != nullptr && *path != '\0') toolkits.emplace_back(path);
  }
  for (const char* program : {"compute-sanitizer", "nvcc"}) {
    if (const fs::path found = find_program(program); !found.empty()) {
      toolkits.push_back(fs::canonical(found).parent_path().parent_path());
      toolkits.push_back(fs::canonical(found).parent_path().parent_path().parent_path());
    }
  }
  toolkits.emplace_back("/usr/local/cuda");
  std::vector<fs::path> places;
  for (const fs::path& toolkit : toolkits) {
    places.push_back(toolkit / "compute-sanitizer");
    places.push_back(toolkit / "extras/compute-sanitizer");
  }
  std::error_code ignored;
  for (const char* root : {"/usr/local/lib", "/usr/lib", "/usr/lib/python3/dist-packages"}) {  // pip's nvidia/cu13
    for (fs::directory_iterator entry(root, ignored), end; !ignored && entry != end; entry.increment(ignored)) {
      for (const char* packages : {"dist-packages", "site-packages"}) {
        places.push_back(entry->path() / packages / "nvidia/cu13/compute-sanitizer");
      }
    }
  }
  return places;
}

fs::path find_sanitizer(const std::string& folder) {
  std::error_code ignored;
  if (!folder.empty()) {
    if (fs::exists(fs::path(folder) / library, ignored)) return fs::canonical(fs::path(folder) / library);
    throw std::runtime_error(fmt::format("--sanitizer: there is no {} in {}", library, in_quotes(folder)));
  }
  for (const fs::path& place : usual_places()) {
    if (fs::exists(place / library, ignored)) return fs::canonical(place / library);
  }
  throw std::runtime_error(fmt::format(
      "NVIDIA's {} is not installed: it comes with the CUDA Toolkit in compute-sanitizer/, or by pip install "
      "nvidia-cuda-sanitizer-api; --sanitizer names its directory",
      library));
}

fs::path find_library() {
  fs::path found = find_next_to_bankcheck("bankcheck_cuda.so");
  if (found.empty()) {
    throw std::runtime_error(
        "there is no bankcheck_cuda.so next to bankcheck: bankcheck was built without nvcc or without the headers of "
        "NVIDIA's Compute Sanitizer, please rebuild it with the CUDA Toolkit");
  }
  return found;
}

std::vector<Record> records_in(const fs::path& folder, std::vector<std::string>& errors) {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".record") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<Record> records;
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
std::vector<const banks::Architecture*> architectures_of(const std::vector<Record>& records) {
  std::vector<const banks::Architecture*> all;
  for (const Record& record : records) {
    for (const auto& [id, device] : record.devices) {
      const banks::Architecture* one = architecture_of(device);
      if (one == nullptr) {
        throw std::runtime_error(
            fmt::format("the bank model does not know the {} (compute capability {}.{}): please name the architecture "
                        "that comes nearest with --arch",
                        device.name, device.major, device.minor));
      }
      if (std::find(all.begin(), all.end(), one) == all.end()) all.push_back(one);
    }
  }
  return all;
}

/// The first failure that applies, in the order of causes.
std::optional<std::string> failure_of(const CudaRun& run, const Ended& ended, const std::vector<Record>& records,
                                      const trace::Trace& trace) {
  const std::string& program = run.command.front();
  if (ended.out_of_time) return out_of_time(program, run.time_limit);
  if (auto signal = signal_that_ended(program, ended)) return signal;
  if (WEXITSTATUS(ended.status) != 0) {
    const std::string failed =
        fmt::format("the program {} failed with exit code {}", in_quotes(program), WEXITSTATUS(ended.status));
    return trace.errors.empty() ? failed : failed + "; " + trace.errors.front();  // which may be why
  }
  if (!trace.errors.empty()) return trace.errors.front();
  if (records.empty()) {
    return fmt::format("the program {} did not use CUDA, or cleared its environment", in_quotes(program));
  }
  if (trace.kernels.empty()) return fmt::format("the program {} ran no kernel that was watched", in_quotes(program));
  return std::nullopt;
}

}  // namespace

Outcome run_on_gpu(const CudaRun& run) {
  const fs::path injection = find_library();
  const fs::path sanitizer = find_sanitizer(run.sanitizer);
  check_program(run.command.front());
  check_gpu_present();
  const TemporaryFolder folder;
  std::string globs;
  for (const std::string& glob : run.kernels) globs += glob + '\n';
  setenv("CUDA_INJECTION64_PATH", injection.c_str(), 1);
  setenv("BANKWISE_SANITIZER_LIBRARY", sanitizer.c_str(), 1);
  setenv("BANKWISE_CUDA_RECORDS", folder.path().c_str(), 1);
  setenv("BANKWISE_CUDA_KERNELS", globs.c_str(), 1);
  setenv("BANKWISE_CUDA_MAX_LAUNCHES", std::to_string(run.max_launches).c_str(), 1);
  setenv("BANKWISE_CUDA_MAX_GROUPS", std::to_string(run.max_groups).c_str(), 1);
  if (run.table_bytes > 0) setenv("BANKWISE_CUDA_TABLE_BYTES", std::to_string(run.table_bytes).c_str(), 1);

  const Ended ended = start_and_wait(find_program(run.command.front()), run.command,
                                     {.own_stdout = run.own_stdout, .time_limit = run.time_limit});

  Outcome outcome;
  std::vector<std::string> errors;
  const std::vector<Record> records = records_in(folder.path(), errors);
  outcome.architectures = run.architectures.empty() ? architectures_of(records) : run.architectures;
  Resolved resolved = resolve(records, outcome.architectures);
  outcome.trace = std::move(resolved.trace);
  outcome.left_out = std::move(resolved.left_out);
  outcome.trace.command = run.command;
  outcome.trace.errors.insert(outcome.trace.errors.end(), errors.begin(), errors.end());
  outcome.failure = failure_of(run, ended, records, outcome.trace);
  outcome.interrupted = outcome.failure && (ended.interrupted || ended.out_of_time || ended_from_outside(ended));
  if (const auto left = still_running(run.command.front(), ended)) {
    const bool watched = std::any_of(ended.left_running.begin(), ended.left_running.end(),
                                     [&](long one) { return has_loaded(one, injection.filename().string()); });
    if (watched || outcome.failure) outcome.left_out.push_back(*left);
  }
  return outcome;
}

}  // namespace bankwise::cuda
