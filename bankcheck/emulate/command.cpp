// SPDX-License-Identifier: MIT
#include "bankcheck/emulate/command.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>

#include <bankwise/support/exit_code.hpp>
#include <bankwise/support/in_quotes.hpp>
#include <bankwise/support/output_file.hpp>
#include <bankwise/trace/fault.hpp>
#include <bankwise/trace/json_lines.hpp>
#include "bankcheck/check/child_process.hpp"
#include "bankcheck/emulate/cache.hpp"
#include "bankcheck/emulate/emulated_run.hpp"
#include "bankcheck/emulate/verify.hpp"

namespace bankwise::emulate {

CLI::App* declare_check(CLI::App& app, CheckOptions& options) {
  CLI::App* command = app.add_subcommand(
      "emulate",
      "Build a CUDA program with g++, run it on the CPU, and report its kernels' bank conflicts by source line");
  command->footer(
      "The arguments of the program follow --.\n"
      "Exit codes: 0 ok, 1 more conflicts than allowed, or a fault in the program, 2 usage, 3 the program does not\n"
      "build, or it failed.\n"
      "Example: bankcheck emulate --arch sm_90 --max-conflicts 0 -I include my_program.cu -- --size 256");
  opencl::declare_report_options(*command, options.report);
  // Sources follow options, so an option has one value.
  for (const char* name : {"--arch", "--kernel"}) command->get_option(name)->allow_extra_args(false);
  command->add_option("FILES", options.program.sources,
                      "The program's sources: .cu, .cpp; without any, -- is followed by a program that CMake's "
                      "bankwise_emulate() has built");
  command->add_option("-I", options.program.include, "Directory of headers; may be repeated")->allow_extra_args(false);
  command->add_option("-D", options.program.definitions, "NAME or NAME=VALUE: a macro; may be repeated")
      ->allow_extra_args(false);
  command->add_option("-l", options.program.libraries, "Library of the host to link; may be repeated")
      ->allow_extra_args(false);
  command
      ->add_option("--compiler-options", options.program.options,
                   "Options of g++ to compile and to link with, separated by commas, for example -fopenmp")
      ->delimiter(',')
      ->allow_extra_args(false);
  command->add_option("--std", options.program.standard, "The C++ standard of the sources")
      ->check(CLI::IsMember({"c++17", "c++20", "c++23"}))
      ->capture_default_str();
  opencl::declare_watch_options(*command, options.watch, "blocks");
  command->add_option("--step-limit", options.step_limit,
                      "Steps that the warps of a block may take before it counts as an endless loop (default: 2^26)");
  command->add_flag("--fatal", options.fatal, "End the program at the first fault of a kernel");
  std::vector<std::string> faults;
  for (const trace::FaultRow& row : trace::faults()) faults.emplace_back(row.id);
  command->add_option("--allow", options.allow, "Faults that are not reported, separated by commas")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::IsMember(faults));
  command->add_flag("--warp-synchronous", options.warp_synchronous,
                    "Lanes of one warp need no __syncwarp() between their accesses, as before compute capability 7.0");
  command->add_flag("--returned-lanes-arrive", options.returned_lanes_arrive,
                    "Lanes that have returned count as arrived at barriers");
  command->add_flag(
      "--verify", options.verify,
      "Apply what --fit proposes to a copy of the sources, run it, and compare the passes; implies --fit");
  command->add_option("--fixed", options.fixed, "Directory for that copy, which is kept; implies --verify");
  command->add_option("--object", options.object,
                      "Only compile the source to this object file; CMake's bankwise_emulate() uses it");
  command->add_option("--cache", options.cache,
                      "Directory for what is compiled (default: bankwise in $XDG_CACHE_HOME or ~/.cache)");
  return command;
}

namespace {

/// The sources exist: g++ would say so at length.
void check_sources(const Program& program) {
  for (const std::string& source : program.sources) {
    if (!std::filesystem::is_regular_file(source)) {
      throw UsageError(fmt::format("cannot read {}: there is no such file", in_quotes(source)));
    }
  }
}

}  // namespace

int check(const CheckOptions& options) {
  opencl::check_watch_options(options.watch);
  check_sources(options.program);
  const bool is_built = options.program.sources.empty();
  if (is_built && options.arguments.empty()) {
    throw UsageError("no program to check: name its sources; see bankcheck emulate --help");
  }
  if (!options.object.empty() && options.program.sources.size() != 1) {
    throw UsageError("--object needs exactly one source");
  }
  const bool verifies = options.verify || !options.fixed.empty();
  if (verifies && is_built) throw UsageError("--verify needs the program's sources, to build them again");
  opencl::ReportOptions report = options.report;
  report.fit.fit |= verifies;
  opencl::Reporting reporting(report);
  const OutputFile trace("--trace", options.watch.trace);
  reporting.require_apart_from(trace);
  std::filesystem::path program;
  try {
    if (!options.object.empty()) {
      build_object(options.program, find_toolchain(), cache_folder(options.cache), options.object);
      return exit_ok;
    }
    if (is_built) opencl::check_program(options.arguments.front());
    program = is_built ? opencl::find_program(options.arguments.front())
                       : build(options.program, find_toolchain(), cache_folder(options.cache));
  } catch (const BuildFailed& failed) {
    std::fputs(failed.messages.c_str(), stderr);
    opencl::tell(failed.what());
    return exit_device;
  }
  std::vector<std::string> command;
  if (!is_built) command.push_back(program.filename().string());
  command.insert(command.end(), options.arguments.begin(), options.arguments.end());
  const EmulatedRun run{.program = program,
                        .command = command,
                        .architecture = reporting.architectures().front(),
                        .max_launches = options.watch.max_launches,
                        .max_groups = options.watch.max_groups,
                        .step_limit = options.step_limit,
                        .fatal = options.fatal,
                        .warp_synchronous = options.warp_synchronous,
                        .returned_lanes_arrive = options.returned_lanes_arrive,
                        .allow = options.allow,
                        .time_limit = options.watch.time_limit,
                        .own_stdout = !reporting.quiet()};
  Outcome outcome = run_emulated(run);
  const std::vector<std::string> faults = outcome.trace.errors;
  if (outcome.failure) outcome.trace.errors.push_back(*outcome.failure);
  if (trace) trace.write(to_json_lines(outcome.trace));
  const int code = reporting.finish_run(outcome.trace, outcome.failure, outcome.interrupted, outcome.left_out);
  if (verifies && !outcome.failure) {
    try {
      const int verified = verify(reporting, options.program, run, cache_folder(options.cache), options.fixed);
      if (faults.empty() && code == exit_ok) return verified;
    } catch (const BuildFailed& failed) {
      std::fputs(failed.messages.c_str(), stderr);
      opencl::tell(fmt::format("--verify: with the changes, {}", failed.what()));
      return exit_device;
    }
  }
  if (faults.empty()) return code;
  opencl::tell(fmt::format("{} fault{} in the program, first: {}", faults.size(), faults.size() == 1 ? "" : "s",
                           faults.front()));
  return exit_wrong;
}

}  // namespace bankwise::emulate
