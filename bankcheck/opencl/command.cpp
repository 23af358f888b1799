// SPDX-License-Identifier: MIT
#include "bankcheck/opencl/command.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iterator>

#include <bankwise/support/exit_code.hpp>
#include <bankwise/support/in_quotes.hpp>
#include <bankwise/support/output_file.hpp>
#include <bankwise/support/whole_number.hpp>
#include <bankwise/trace/json_lines.hpp>
#include "bankcheck/opencl/device_properties.hpp"
#include "bankcheck/opencl/oclgrind_run.hpp"

namespace bankwise::opencl {

namespace {

std::string keys() {
  std::string all;
  for (const DeviceProperty& property : device_properties) {
    all += (all.empty() ? "" : ", ") + std::string(property.key);
  }
  return all;
}

/// The properties of the simulated device, one on each line. Error: UsageError.
std::string device_of(const CheckOptions& options, const banks::Architecture& first) {
  std::string lines;
  for (const std::string& given : options.device_info) {
    const auto end = given.find('=');
    const std::string key = given.substr(0, end);
    const auto same = [&](const DeviceProperty& property) { return property.key == key; };
    const auto* const property = std::find_if(std::begin(device_properties), std::end(device_properties), same);
    if (end == std::string::npos || property == std::end(device_properties)) {
      throw UsageError(
          fmt::format("--device-info {}: it needs KEY=VALUE with one of the keys {}", in_quotes(given), keys()));
    }
    const std::string value = given.substr(end + 1);
    std::uint64_t number = 0;
    const bool fits = property->bytes == 0 ? !value.empty() && value.find('\n') == std::string::npos
                                           : parse_number(value, number) && number > 0 && number <= UINT32_MAX;
    if (!fits) {
      throw UsageError(
          fmt::format("--device-info {}: {}", in_quotes(given),
                      property->bytes == 0 ? "it needs a text of one line" : "it needs a number from 1 to 2^32-1"));
    }
    lines += given + '\n';
  }
  return lines + fmt::format("preferred-multiple={}\n", first.warp);  // unless it is given: the first line counts
}

/// Kernels as OpenCL names them: the report may add build options, or a number, to make names distinct.
std::vector<std::string> plain_names(const std::vector<std::string>& kernels) {
  std::vector<std::string> names;
  names.reserve(kernels.size());
  for (const std::string& kernel : kernels) names.push_back(kernel.substr(0, kernel.find_first_of(" #")));
  return names;
}

}  // namespace

CLI::App* declare_check(CLI::App& app, CheckOptions& options) {
  CLI::App* command = app.add_subcommand(
      "opencl",
      "Run an OpenCL program on the CPU, under Oclgrind, and report its kernels' bank conflicts by source line");
  command->footer(
      "The program and its arguments follow --.\n"
      "Exit codes: 0 ok, 1 more conflicts than allowed, 2 usage, 3 the program or Oclgrind failed.\n"
      "Example: bankcheck opencl --arch sm_90,gfx942 --max-conflicts 0 -- ./my_program --size 256");
  driver::declare_report_options(*command, options.report);
  driver::declare_watch_options(*command, options.watch, "work-groups");
  command->add_option("--local-memory", options.local_memory, "Bytes of local memory that the simulated device reports")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 30))
      ->capture_default_str();
  command->add_option("--device-info", options.device_info,
                      "Property that the simulated GPU reports, as KEY=VALUE; may be repeated. Keys: " + keys());
  return command;
}

int check(const CheckOptions& options) {
  if (options.command.empty()) throw UsageError("no program to check: give it after --; see bankcheck opencl --help");
  driver::check_watch_options(options.watch);
  driver::Reporting reporting(options.report);
  const OutputFile trace("--trace", options.watch.trace);
  reporting.require_apart_from(trace);
  Outcome outcome = run_under_oclgrind({.command = options.command,
                                        .architectures = reporting.architectures(),
                                        .local_memory = options.local_memory,
                                        .device = device_of(options, *reporting.architectures().front()),
                                        .kernels = plain_names(options.report.kernels),
                                        .max_launches = options.watch.max_launches,
                                        .max_groups = options.watch.max_groups,
                                        .time_limit = options.watch.time_limit,
                                        .own_stdout = !reporting.quiet()});
  if (outcome.failure) outcome.trace.errors = {*outcome.failure};
  if (trace) trace.write(to_json_lines(outcome.trace));
  for (const std::string& remark : outcome.remarks) driver::tell(remark);
  return reporting.finish_run(outcome.trace, outcome.failure, outcome.interrupted, outcome.incomplete);
}

}  // namespace bankwise::opencl
