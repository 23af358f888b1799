// bankcheck report and bankcheck fit: reports of a trace in a file.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <fstream>

#include <bankwise/support/exit_code.hpp>
#include <bankwise/support/files.hpp>
#include <bankwise/trace/codec.hpp>
#include "bankcheck/driver/reporting.hpp"

namespace bankwise::driver {

void declare_report(CLI::App& command, ReportCommand& options) {
  command.footer(
      "Exit codes: 0 ok, 1 more conflicts or sectors than allowed, 2 usage or an input that is no trace, 3 an output "
      "cannot be "
      "written. With --max-conflicts, --max-sectors or --baseline the exit code is 1 for every trace that is "
      "incomplete there.\n"
      "Example: bankcheck report --arch sm_90,gfx942 --max-conflicts 0 trace.jsonl");
  declare_report_options(command, options.report);
  command.add_option("--cubin", options.cubin, cubin_help)->type_name("FILE");
  command.option_defaults()->group("Input");
  command.add_option("TRACE", options.trace, "Trace file, written by --trace; - reads stdin")->required();
}

void declare_fit(CLI::App& command, ReportCommand& options) {
  command.footer(
      "Exit codes: 0 ok, 1 more conflicts or sectors than allowed, 2 usage or an input that is no trace, 3 an output "
      "cannot be "
      "written. --max-conflicts, --max-sectors and --baseline apply to the kernels before the change.\n"
      "bankcheck cuda --measure and bankcheck opencl --measure run the program with the best layouts, and time them.\n"
      "Example: bankcheck fit --arch sm_90,gfx942 --kernel 'transpose*' trace.jsonl");
  declare_report_options(command, options.report);
  command.remove_option(command.get_option("--fit"));
  command.option_defaults()->group("Input");
  command.add_option("TRACE", options.trace, "Trace file, written by --trace; - reads stdin")->required();
  options.report.fit.fit = options.report.fit.only = true;
}

int report_file(ReportCommand& options) {
  options.report.emitted = emitted_lines(options.cubin);
  options.report.own_run = false;
  Reporting reporting(options.report);
  std::ifstream opened;
  std::istream& lines = support::open_input(options.trace, opened);
  const trace::TraceFile file = trace::read_json_lines(lines, options.trace == "-" ? "stdin" : options.trace);
  std::vector<std::string> incomplete = file.trace.errors;
  if (!file.closed) {
    incomplete.push_back(
        fmt::format("{} has no last line: the file was truncated, and the rest is missing", options.trace));
  }
  if (file.trace.kernels.empty() && incomplete.empty()) throw support::UsageError(options.trace + " has no kernel");
  return reporting.finish(file.trace, std::move(incomplete));
}

}  // namespace bankwise::driver
