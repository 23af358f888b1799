// SPDX-License-Identifier: MIT
#include "bankcheck/driver/fit_command.hpp"

#include <CLI/CLI.hpp>

namespace bankwise::driver {

CLI::App* declare_fit(CLI::App& app, ReportCommand& options) {
  CLI::App* command =
      app.add_subcommand("fit", "Find the padding or swizzle that removes the bank conflicts of a trace file");
  command->footer(
      "Exit codes: 0 ok, 1 more conflicts than allowed, 2 usage or an input that is no trace, 3 an output cannot be\n"
      "written. --max-conflicts and --baseline apply to the kernels before the change.\n"
      "Example: bankcheck fit --arch sm_90,gfx942 --kernel 'transpose*' trace.jsonl");
  declare_report_options(*command, options.report);
  command->remove_option(command->get_option("--fit"));
  command->add_option("trace", options.trace, "Trace file, written by --trace; - reads stdin")->required();
  options.report.fit.fit = options.report.fit.only = true;
  return command;
}

}  // namespace bankwise::driver
