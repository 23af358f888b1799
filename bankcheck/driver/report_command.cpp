// SPDX-License-Identifier: MIT
#include "bankcheck/driver/reporting.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <fstream>
#include <iostream>
#include <system_error>

#include <bankwise/support/exit_code.hpp>
#include <bankwise/trace/codec.hpp>

namespace bankwise::driver {
namespace {

trace::TraceFile read_trace(const std::string& path) {
  if (path == "-") return trace::read_json_lines(std::cin, "stdin");
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file || (file.peek(), errno == EISDIR)) {
    throw UsageError(fmt::format("cannot read {}: {}", path, std::generic_category().message(errno)));
  }
  file.clear();
  return trace::read_json_lines(file, path);
}

}  // namespace

void declare_report(CLI::App& command, ReportCommand& options) {
  command.footer(
      "Exit codes: 0 ok, 1 more conflicts than allowed, 2 usage or an input that is no trace, 3 an output cannot be\n"
      "written. With --max-conflicts or --baseline the exit code is 1 for every incomplete trace.\n"
      "Example: bankcheck report --arch sm_90,gfx942 --max-conflicts 0 trace.jsonl");
  declare_report_options(command, options.report);
  command.add_option("--cubin", options.cubin, cubin_help);
  command.add_option("trace", options.trace, "Trace file, written by --trace; - reads stdin")->required();
}

void declare_fit(CLI::App& command, ReportCommand& options) {
  command.footer(
      "Exit codes: 0 ok, 1 more conflicts than allowed, 2 usage or an input that is no trace, 3 an output cannot be\n"
      "written. --max-conflicts and --baseline apply to the kernels before the change.\n"
      "Example: bankcheck fit --arch sm_90,gfx942 --kernel 'transpose*' trace.jsonl");
  declare_report_options(command, options.report);
  command.remove_option(command.get_option("--fit"));
  command.add_option("trace", options.trace, "Trace file, written by --trace; - reads stdin")->required();
  options.report.fit.fit = options.report.fit.only = true;
}

int report_file(ReportCommand& options) {
  options.report.emitted = emitted_lines(options.cubin);
  options.report.own_run = false;
  Reporting reporting(options.report);
  const trace::TraceFile file = read_trace(options.trace);
  std::vector<std::string> incomplete = file.trace.errors;
  if (!file.closed) {
    incomplete.push_back(
        fmt::format("{} has no last line: the file was truncated, and the rest is missing", options.trace));
  }
  if (file.trace.kernels.empty() && incomplete.empty()) throw UsageError(options.trace + " has no kernel");
  return reporting.finish(file.trace, std::move(incomplete));
}

}  // namespace bankwise::driver
