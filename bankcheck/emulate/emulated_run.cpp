// SPDX-License-Identifier: MIT
#include "bankcheck/emulate/emulated_run.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/wait.h>

#include <cstdlib>
#include <fstream>

#include <bankwise/support/in_quotes.hpp>
#include <bankwise/support/revision.hpp>
#include <bankwise/trace/json_lines.hpp>
#include "bankcheck/driver/child_process.hpp"
#include "bankcheck/driver/progress_file.hpp"

namespace bankwise::emulate {
namespace {

std::optional<std::string> failure_of(const EmulatedRun& run, const driver::Ended& ended,
                                      const trace::TraceFile& file) {
  const std::string& program = run.command.front();
  if (ended.out_of_time) return driver::out_of_time(program, run.time_limit);
  if (auto signal = driver::signal_that_ended(program, ended)) return signal;
  if (const int code = WEXITSTATUS(ended.status); code != 0) {
    return fmt::format("the program {} failed with exit code {}", in_quotes(program), code);
  }
  if (file.trace.kernels.empty() && file.trace.errors.empty()) {
    return fmt::format("the program {} ran no kernel", in_quotes(program));
  }
  return std::nullopt;
}

}  // namespace

Outcome run_emulated(const EmulatedRun& run) {
  const driver::TemporaryFolder folder;
  const std::filesystem::path record = folder / "record";
  const trace::Trace header{
      .maker = trace::Maker::emulate, .revision = std::string(revision()), .command = run.command};
  std::ofstream(record, std::ios::binary) << header_line(header);
  setenv("BANKWISE_RECORD", record.c_str(), 1);
  setenv("BANKWISE_EMULATE_ARCH", std::string(run.architecture->name).c_str(), 1);
  setenv("BANKWISE_EMULATE_WARP", std::to_string(run.architecture->warp).c_str(), 1);
  setenv("BANKWISE_EMULATE_MAX_LAUNCHES", std::to_string(run.max_launches).c_str(), 1);
  setenv("BANKWISE_EMULATE_MAX_BLOCKS", std::to_string(run.max_groups).c_str(), 1);
  setenv("BANKWISE_EMULATE_STEP_LIMIT", std::to_string(run.step_limit).c_str(), 1);
  setenv("BANKWISE_EMULATE_FATAL", run.fatal ? "1" : "0", 1);
  setenv("BANKWISE_EMULATE_WARP_SYNCHRONOUS", run.warp_synchronous ? "1" : "0", 1);
  setenv("BANKWISE_EMULATE_RETURNED_LANES_ARRIVE", run.returned_lanes_arrive ? "1" : "0", 1);
  setenv("BANKWISE_EMULATE_RUN_REPEATED", run.run_repeated ? "1" : "0", 1);
  setenv("BANKWISE_EMULATE_KERNELS", fmt::format("{}", fmt::join(run.kernels, "\n")).c_str(), 1);
  setenv("BANKWISE_EMULATE_ALLOW", fmt::format("{}", fmt::join(run.allow, ",")).c_str(), 1);
  const driver::ProgressFile progress(folder / "progress", "blocks");
  driver::ProgressLine progress_line([&] { return progress.text(); });
  const driver::Ended ended =
      driver::start_and_wait(run.program, run.command,
                             {.own_stdout = run.own_stdout, .progress = &progress_line, .time_limit = run.time_limit});

  Outcome outcome;
  std::ifstream lines(record, std::ios::binary);
  try {
    trace::TraceFile file = trace::read_json_lines(lines, "record");
    outcome.failure = failure_of(run, ended, file);
    outcome.interrupted = outcome.failure && (ended.interrupted || ended.out_of_time || ended_from_outside(ended));
    outcome.trace = std::move(file.trace);
    if (file.cut_line > 0) outcome.left_out.emplace_back("the program ended while a launch was being recorded");
  } catch (const trace::BadLine& bad) {
    outcome.trace = header;
    outcome.failure = fmt::format("line {} of the program's record is damaged: {}", bad.line, bad.what());
  }
  if (const auto left = driver::still_running(run.command.front(), ended)) outcome.left_out.push_back(*left);
  return outcome;
}

}  // namespace bankwise::emulate
