// SPDX-License-Identifier: MIT
#include "bankcheck/opencl/command.hpp"

#include <CLI/CLI.hpp>

#include <bankwise/support/exit_code.hpp>
#include <bankwise/support/output_file.hpp>
#include <bankwise/trace/json_lines.hpp>
#include "bankcheck/opencl/oclgrind_run.hpp"

namespace bankwise::opencl {

CLI::App* declare_check(CLI::App& app, CheckOptions& options) {
  CLI::App* command = app.add_subcommand(
      "opencl",
      "Run an OpenCL program on the CPU, under Oclgrind, and report its kernels' bank conflicts by source line");
  command->footer(
      "The program and its arguments follow --.\n"
      "Exit codes: 0 ok, 1 more conflicts than allowed, 2 usage, 3 the program or Oclgrind failed.\n"
      "Example: bankcheck opencl --arch sm_90,gfx942 --max-conflicts 0 -- ./my_program --size 256");
  declare_report_options(*command, options.report);
  command
      ->add_option("--trace", options.trace,
                   "Write a trace of the kernels to this file, even if the program fails; see bankcheck report")
      ->check(CLI::Validator([](const std::string& text) { return text.empty() ? "it needs a value" : ""; }, ""));
  command->add_option("--local-memory", options.local_memory, "Bytes of local memory that the simulated device reports")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 30))
      ->capture_default_str();
  return command;
}

int check(const CheckOptions& options) {
  if (options.command.empty()) throw UsageError("no program to check: give it after --; see bankcheck opencl --help");
  if (options.trace == "-") throw UsageError("--trace needs a file: stdout belongs to the program");
  Reporting reporting(options.report);
  const OutputFile trace("--trace", options.trace);
  Outcome outcome =
      run_under_oclgrind({options.command, reporting.architectures(), options.local_memory, !reporting.quiet()});
  if (outcome.failure) outcome.trace.errors = {*outcome.failure};
  if (trace) trace.write(to_json_lines(outcome.trace));
  if (!outcome.failure) {
    if (outcome.remark) tell(*outcome.remark);
    return reporting.finish(outcome.trace, {});
  }
  reporting.show_failed(outcome.trace);
  tell(*outcome.failure);
  return exit_device;
}

}  // namespace bankwise::opencl
