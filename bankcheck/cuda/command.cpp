// SPDX-License-Identifier: MIT
#include "bankcheck/cuda/command.hpp"

#include <CLI/CLI.hpp>
#include <utility>

#include <bankwise/support/exit_code.hpp>
#include <bankwise/support/output_file.hpp>
#include <bankwise/trace/json_lines.hpp>
#include "bankcheck/cuda/cuda_run.hpp"
#include "bankcheck/cuda/gpu_present.hpp"

namespace bankwise::cuda {
CLI::App* declare_check(CLI::App& app, CheckOptions& options) {
  CLI::App* command = app.add_subcommand(
      "cuda", "Run a CUDA program on an NVIDIA GPU, and report its kernels' bank conflicts by source line");
  command->footer(
      "The program and its arguments follow --.\n"
      "Exit codes: 0 ok, 1 more conflicts than allowed, 2 usage, 3 the program failed, or could not be\n"
      "watched, 77 there is no NVIDIA GPU, and the program was not run.\n"
      "Example: bankcheck cuda --arch sm_90 --max-conflicts 0 -- python3 train.py");
  options.report.architectures.clear();
  driver::declare_report_options(*command, options.report);
  command->get_option("--arch")->description("Architectures, separated by commas (default: the GPU's)");
  declare_watch_options(*command, options.watch, "blocks");
  command
      ->add_option("--table", options.table_mebibytes,
                   "MiB of device memory per CUDA context for the table of distinct accesses")
      ->check(CLI::Range(std::uint64_t{8}, std::uint64_t{1} << 16))
      ->capture_default_str();
  command->add_option("--sanitizer", options.sanitizer,
                      "Directory of libsanitizer-public.so (default: the CUDA Toolkit's)");
  return command;
}

namespace {

int run_and_report(const CheckOptions& options) {
  if (options.command.empty()) throw UsageError("no program given: it follows --; see bankcheck cuda --help");
  check_watch_options(options.watch);
  driver::ReportOptions report = options.report;
  const std::vector<std::string> kernels = std::exchange(report.kernels, {});  // globs of what is watched
  driver::Reporting reporting(report);
  const OutputFile trace("--trace", options.watch.trace);
  reporting.require_apart_from(trace);
  Outcome outcome = run_on_gpu({.architectures = reporting.architectures(),
                                .command = options.command,
                                .kernels = kernels,
                                .sanitizer = options.sanitizer,
                                .max_launches = options.watch.max_launches,
                                .max_groups = options.watch.max_groups,
                                .table_bytes = options.table_mebibytes << 20,
                                .time_limit = options.watch.time_limit,
                                .own_stdout = !reporting.quiet()});
  reporting.report_on(outcome.architectures);
  if (outcome.failure) outcome.trace.errors = {*outcome.failure};
  if (trace) trace.write(to_json_lines(outcome.trace));
  return reporting.finish_run(outcome.trace, outcome.failure, outcome.interrupted, outcome.left_out);
}

}  // namespace

int check(const CheckOptions& options) {
  try {
    return run_and_report(options);
  } catch (const NoGpu& reason) {
    driver::tell(reason.what());
    return exit_nothing;
  }
}

}  // namespace bankwise::cuda
