#include "bankcheck/cuda/runs.hpp"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include <bankwise/support/text.hpp>

namespace bankwise::cuda {
namespace {

namespace fs = std::filesystem;
using namespace driver;

/// What the processes of a run have left in a folder, read by `read`.
template <class Read>
auto records_in(const fs::path& folder, const char* extension, Read read, std::vector<std::string>& errors) {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == extension) paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<decltype(read(folder))> records;
  for (const fs::path& path : paths) {
    try {
      records.push_back(read(path));
    } catch (const std::runtime_error& error) {
      errors.emplace_back(error.what());
    }
  }
  return records;
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
  const std::string program = support::in_quotes(ended.program);
  if (records.empty()) return fmt::format("the program {} did not use CUDA, or cleared its environment", program);
  if (trace.kernels.empty()) return fmt::format("the program {} ran no kernel that was watched", program);
  return std::nullopt;
}

}  // namespace

WatchedRun watch(const Watching& watching, const Place& place, bool own_stdout, const TemporaryFolder& folder) {
  const KeptEnvironment kept;
  support::CudaRequest request = watching.request;
  request.folder = folder.path();
  setenv("CUDA_INJECTION64_PATH", watching.injection.c_str(), 1);
  write_request(request);
  WatchedRun run{.command = place.command};
  run.ended =
      start_and_wait(place.program, place.command,
                     {.own_stdout = own_stdout, .directory = place.directory, .time_limit = watching.time_limit});
  run.records = records_in(folder.path(), ".record", read_record, run.errors);
  return run;
}

Outcome outcome_of(WatchedRun run, const Watching& watching,
                   const std::vector<const banks::Architecture*>& architectures, const MatchedTimes& times,
                   const TemporaryFolder& folder) {
  Resolved resolved = resolve(run.records, architectures, times.times);
  Outcome outcome{.trace = std::move(resolved.trace)};
  outcome.trace.command = run.command;
  outcome.trace.errors.insert(outcome.trace.errors.end(), run.errors.begin(), run.errors.end());
  outcome.failure = failure_of(run.ended, run.records, outcome.trace);
  add_end(outcome, run.ended, folder, watching.injection.filename().string());
  outcome.remarks = std::move(resolved.remarks);
  outcome.remarks.insert(outcome.remarks.end(), times.remarks.begin(), times.remarks.end());
  // Not of processes without CUDA in the background, which many programs leave
  return outcome;
}

UnwatchedRun run_unwatched(const Timer& timer, const Place& place, Wait wait, const TemporaryFolder& folder) {
  const KeptEnvironment kept;
  setenv("CUDA_INJECTION64_PATH", timer.injection.c_str(), 1);
  write_request(support::CudaTimeRequest{.folder = folder.path(), .cupti = timer.cupti});
  wait.silent = true;
  wait.directory = place.directory;
  UnwatchedRun run;
  run.ended = start_and_wait(place.program, place.command, wait);
  run.processes = records_in(folder.path(), ".times", read_times, run.errors);
  return run;
}

MatchedTimes time_kernels(const Timer& timer, const Place& place, double time_limit, const TemporaryFolder& folder,
                          const std::vector<ProcessRecord>& records) {
  UnwatchedRun run =
      run_unwatched(timer, place,
                    {.time_limit = time_limit,
                     .hint = "the program is running for the second time, for --time; its output is not shown"},
                    folder);
  if (const auto failure = driver::failure_of(run.ended)) {
    return {{}, {fmt::format("no kernel has a time, since the second run failed: {}", *failure)}};
  }
  MatchedTimes matched = match(records, std::move(run.processes));
  matched.remarks.insert(matched.remarks.begin(), run.errors.begin(), run.errors.end());
  return matched;
}

}  // namespace bankwise::cuda
