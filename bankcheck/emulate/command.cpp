// SPDX-License-Identifier: MIT
#include "bankcheck/emulate/command.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <utility>

#include <bankwise/support/exit_code.hpp>
#include <bankwise/support/in_quotes.hpp>
#include <bankwise/support/output_file.hpp>
#include <bankwise/trace/fault.hpp>
#include <bankwise/trace/json_lines.hpp>
#include "bankcheck/driver/child_process.hpp"
#include "bankcheck/emulate/cache.hpp"
#include "bankcheck/emulate/cubins.hpp"
#include "bankcheck/emulate/emulated_run.hpp"
#include "bankcheck/emulate/verify.hpp"

namespace bankwise::emulate {

CLI::App* declare_check(CLI::App& app, CheckOptions& options) {
  CLI::App* command = app.add_subcommand(
      "emulate",
      "Build a CUDA program with g++, run it on the CPU, and report its kernels' bank conflicts by source line");
  command->footer(
      "The arguments of the program follow --.\n"
      "Exit codes: 0 ok, 1 more conflicts than allowed, or a fault in the program, 2 usage, 3 the program did not\n"
      "build, or it failed.\n"
      "Example: bankcheck emulate --arch sm_90 --max-conflicts 0 -I include my_program.cu -- --size 256");
  driver::declare_report_options(*command, options.report);
  // Sources follow options, so an option has one value.
  for (const char* name : {"--arch", "--kernel"}) command->get_option(name)->allow_extra_args(false);
  command->add_option("FILES", options.program.sources,
                      "The program's sources (.cu, .cpp, .c). Without sources, give after -- a program that was built "
                      "with CMake's bankwise_emulate()");
  command->add_option("-I", options.program.include, "Directory to search for headers; may be repeated")
      ->allow_extra_args(false);
  command->add_option("-D", options.program.definitions, "Macro to define, as NAME or NAME=VALUE; may be repeated")
      ->allow_extra_args(false);
  command->add_option("-l", options.program.libraries, "Host library to link; may be repeated")
      ->allow_extra_args(false);
  command
      ->add_option("--compiler-options", options.program.options,
                   "Options for g++ when it compiles and links, separated by commas, for example -fopenmp")
      ->delimiter(',')
      ->allow_extra_args(false);
  command->add_option("--std", options.program.standard, "The C++ standard of the sources")
      ->check(CLI::IsMember({"c++17", "c++20", "c++23"}))
      ->capture_default_str();
  driver::declare_watch_options(*command, options.watch, "blocks");
  command
      ->add_option(
          "--cubin", options.cubins,
          std::string(driver::cubin_help) + "; the word nvcc in place of a file: compile the sources with nvcc")
      ->allow_extra_args(false);
  command->add_option("--step-limit", options.step_limit,
                      "Maximum number of steps of the warps of a block, which ends endless loops (default: 2^26)");
  command->add_flag("--fatal", options.fatal, "End the program at the first fault of a kernel");
  std::vector<std::string> faults;
  for (const trace::FaultRow& row : trace::faults()) faults.emplace_back(row.id);
  command->add_option("--allow", options.allow, "Faults to ignore, separated by commas")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::IsMember(faults));
  command->add_flag("--warp-synchronous", options.warp_synchronous,
                    "Allow lanes of a warp to exchange data without __syncwarp(), as before compute capability 7.0");
  command->add_flag("--returned-lanes-arrive", options.returned_lanes_arrive,
                    "Count lanes that have returned from the kernel as arrived at barriers");
  command->add_flag("--run-repeated", options.run_repeated,
                    "Run every launch, even if it exactly repeats an earlier one (default: reuse the earlier results)");
  command->add_flag("--verify", options.verify,
                    "Apply the proposals of --fit to a copy of the sources, build and run it, and compare its passes "
                    "with the predicted passes; implies --fit");
  command->add_option("--fixed", options.fixed,
                      "Keep the changed copy of the sources in this directory; implies --verify");
  command->add_option("--object", options.object,
                      "Only compile one source to this object file; for CMake's bankwise_emulate()");
  command->add_option("--cache", options.cache,
                      "Directory for compiled files (default: bankwise in $XDG_CACHE_HOME or ~/.cache)");
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

/// nvcc needs the sources, and compiles for GPUs of NVIDIA.
void check_cubins(const std::vector<std::string>& cubins, bool is_built) {
  if (std::find(cubins.begin(), cubins.end(), "nvcc") == cubins.end()) return;
  throw UsageError(is_built ? "--cubin nvcc needs the program's sources; give it the cubin's file"
                            : "--cubin nvcc needs an architecture of NVIDIA as the first of --arch");
}

/// The compute capability, times ten, of an architecture of NVIDIA; 0 for others.
unsigned capability_of(const banks::Architecture& architecture) {
  constexpr std::string_view prefix = "sm_";
  if (!architecture.name.starts_with(prefix)) return 0;
  return unsigned(std::strtoul(std::string(architecture.name.substr(prefix.size())).c_str(), nullptr, 10));
}

/// The instructions of the kernels' machine code. Errors: UsageError; BuildFailed.
std::vector<driver::EmittedLine> emitted_lines(const CheckOptions& options, const Program& program) {
  std::vector<driver::EmittedLine> lines;
  const auto add = [&](const std::string& path, bool may_be_empty) {
    for (driver::EmittedLine& line : options.read_cubin(path, may_be_empty)) lines.push_back(std::move(line));
  };
  for (const std::string& cubin : options.cubins) {
    if (cubin != "nvcc") {
      add(cubin, false);
      continue;
    }
    const std::filesystem::path nvcc = find_nvcc();
    if (nvcc.empty()) throw UsageError("--cubin nvcc: there is no nvcc on the PATH and no CUDA Toolkit");
    for (const auto& file : cubins_of(program, nvcc, cache_folder(options.cache))) add(file.string(), true);
  }
  return lines;
}

/// Kernels as the program names them: the report may add a number to make names distinct.
std::vector<std::string> plain_names(const std::vector<std::string>& kernels) {
  std::vector<std::string> names;
  names.reserve(kernels.size());
  for (const std::string& kernel : kernels) names.push_back(kernel.substr(0, kernel.rfind('#')));
  return names;
}

}  // namespace

// NOLINTNEXTLINE(readability-function-cognitive-complexity): one step after the other
int check(const CheckOptions& options) {
  driver::check_watch_options(options.watch);
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
  if (!options.fixed.empty() && std::filesystem::exists(options.fixed) && !std::filesystem::is_empty(options.fixed)) {
    throw UsageError(
        fmt::format("--fixed {}: it is not empty, and a source in it could be overwritten", in_quotes(options.fixed)));
  }
  driver::ReportOptions report = options.report;
  report.fit.fit |= verifies;
  driver::Reporting reporting(report);
  const unsigned capability = capability_of(*reporting.architectures().front());
  Program given = options.program;
  if (capability != 0) given.capability = capability;
  if (is_built || capability == 0) check_cubins(options.cubins, is_built);
  const OutputFile trace("--trace", options.watch.trace);
  reporting.require_apart_from(trace);
  std::filesystem::path program;
  try {
    if (!options.object.empty()) {
      build_object(given, find_toolchain(), cache_folder(options.cache), options.object);
      return exit_ok;
    }
    if (is_built) driver::check_program(options.arguments.front());
    program = is_built ? driver::find_program(options.arguments.front())
                       : build(given, find_toolchain(), cache_folder(options.cache));
    report.emitted = emitted_lines(options, given);
  } catch (const BuildFailed& failed) {
    std::fputs(failed.messages.c_str(), stderr);
    driver::tell(failed.what());
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
                        .run_repeated = options.run_repeated,
                        .kernels = plain_names(options.report.kernels),
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
      const int verified = verify(reporting, given, run, cache_folder(options.cache), options.fixed);
      if (faults.empty() && code == exit_ok) return verified;
    } catch (const BuildFailed& failed) {
      std::fputs(failed.messages.c_str(), stderr);
      driver::tell(fmt::format("--verify: with the changes, {}", failed.what()));
      return exit_device;
    }
  }
  if (faults.empty()) return code;
  driver::tell(fmt::format("{} fault{} in the program, first: {}", faults.size(), faults.size() == 1 ? "" : "s",
                           faults.front()));
  return exit_wrong;
}

}  // namespace bankwise::emulate
