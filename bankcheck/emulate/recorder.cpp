#include "bankcheck/emulate/commands.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <system_error>

#include <bankwise/support/exit_code.hpp>
#include <bankwise/support/text.hpp>
#include <bankwise/trace/fault.hpp>

namespace bankwise::emulate {
namespace {

/// The folder of --fixed is new, or empty.
void check_fixed(const std::string& folder) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(folder, error);
  if (status.type() == std::filesystem::file_type::not_found) return;
  const bool is_folder = is_directory(status);
  if (is_folder && std::filesystem::is_empty(folder, error)) return;
  throw support::UsageError(fmt::format("--fixed {}: {}", support::in_quotes(folder),
                                        is_link_loop(error) ? link_loop
                                        : error             ? error.message()
                                        : !is_folder        ? "it is not a directory"
                                                     : "it is not empty, and a source in it could be overwritten"));
}

/// nvcc needs the sources, and compiles for GPUs of NVIDIA.
void check_cubins(const std::vector<std::string>& cubins, bool is_built) {
  if (std::find(cubins.begin(), cubins.end(), "nvcc") == cubins.end()) return;
  throw support::UsageError(is_built ? "--cubin nvcc needs the program's sources; give it the cubin's file"
                                     : "--cubin nvcc needs an architecture of NVIDIA as the first of --arch");
}

/// The instructions of the kernels' machine code, of files or made by nvcc. Errors: UsageError; BuildFailed.
std::vector<driver::EmittedLine> emitted_lines(const std::vector<std::string>& cubins, const Program& program,
                                               const std::string& cache) {
  std::vector<driver::EmittedLine> lines;
  const auto add = [&](const std::string& path, bool may_be_empty) {
    for (driver::EmittedLine& line : driver::emitted_lines(path, may_be_empty)) lines.push_back(std::move(line));
  };
  for (const std::string& cubin : cubins) {
    if (cubin != "nvcc") {
      add(cubin, false);
      continue;
    }
    const std::filesystem::path nvcc = find_nvcc();
    if (nvcc.empty()) throw support::UsageError("--cubin nvcc: there is no nvcc on the PATH and no CUDA Toolkit");
    for (const auto& file : compile_cubins(program, nvcc, cache_folder(cache))) add(file.string(), true);
  }
  return lines;
}

/// Kernels as the program names them: the report may add a number to make names distinct.
std::vector<std::string> names_without_numbers(const std::vector<std::string>& kernels) {
  std::vector<std::string> names;
  names.reserve(kernels.size());
  for (const std::string& kernel : kernels) names.push_back(kernel.substr(0, kernel.rfind('#')));
  return names;
}

}  // namespace

void Recorder::declare(CLI::App& command) {
  arch_ = command.get_option("--arch");
  command.footer(
      "The arguments of the program follow --. Options of nvcc and hipcc may be given as for those. The architecture "
      "of a HIP program is gfx942 unless --arch names another.\n"
      "Exit codes: 0 ok, 1 more conflicts than allowed, a fault in the program, or a proposal that --verify cannot "
      "confirm, 2 usage, 3 the program did not build, or it failed. With --max-conflicts or --baseline the exit code "
      "is otherwise 1 for every incomplete trace.\n"
      "Example: bankcheck emulate --arch sm_90 --max-conflicts 0 -I include my_program.cu -- --size 256");
  command.option_defaults()->group("Input");
  command.add_option("FILE", program_.sources,
                     "The program's sources (.cu or .hip; .cpp and .c for the host), object files and libraries. "
                     "Without sources, give after -- a program that was built with CMake's bankwise_emulate()");
  command.option_defaults()->group("Build");
  command.add_option("-o", output_, "Also keep the program that is built, as this file")->type_name("FILE");
  command.add_flag("--hip", program_.hip, "The sources are of HIP (default: if one includes HIP, or is a .hip)");
  declare_build_options(command, program_);
  command
      .add_option("--cubin", cubins_,
                  std::string(driver::cubin_help) + "; the word nvcc in place of a file: compile the sources with nvcc")
      ->allow_extra_args(false)
      ->type_name("FILE");
  command.option_defaults()->group("Recorder");
  command
      .add_option("--step-limit", request_.step_limit,
                  "Maximum number of steps of the warps of a block, which ends endless loops (default: 2^26)")
      ->type_name("N");
  command.add_flag("--fatal", request_.fatal, "End the program at the first fault of a kernel");
  command.add_flag("--only-watched", request_.only_watched,
                   "With --max-groups, --max-launches or --kernel: run the watched blocks alone. The program's results "
                   "are then wrong; the report says which kernels read them");
  std::vector<std::string> faults;
  for (const trace::FaultRow& row : trace::faults()) faults.emplace_back(row.id);
  command.add_option("--allow", request_.allow, "Faults to ignore, separated by commas")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("FAULT,...")
      ->check(CLI::IsMember(faults));
  command.add_flag("--warp-synchronous", request_.warp_synchronous,
                   "Allow lanes of a warp to exchange data without __syncwarp(), as before compute capability 7.0");
  command.add_flag("--returned-lanes-arrive", request_.returned_lanes_arrive,
                   "Count lanes that have returned from the kernel as arrived at barriers");
  command.add_flag("--run-repeated", request_.run_repeated,
                   "Run every launch, even if it exactly repeats an earlier one (default: reuse the earlier results)");
  command.option_defaults()->group("Report");
  command.add_flag("--verify", verify_,
                   "Apply the proposals of --fit to a copy of the sources, build and run it, and compare its passes "
                   "with the predicted passes, and device memory with that of the original; implies --fit");
  command.add_option("--fixed", fixed_, "Keep the changed copy of the sources in this directory; implies --verify")
      ->type_name("DIR");
  command.option_defaults()->group("Build");
  command
      .add_option("--object", object_, "Only compile one source to this object file; for CMake's bankwise_emulate()")
      ->type_name("FILE");
  command
      .add_option("--cache", cache_, "Directory for compiled files (default: bankwise in $XDG_CACHE_HOME or ~/.cache)")
      ->type_name("DIR");
}

void Recorder::check_options(std::span<const banks::Architecture* const> architectures) const {
  const banks::Architecture& first = *architectures.front();
  for (const banks::Architecture* other : architectures) {
    if (other->warp == first.warp || other->lanes == first.warp) continue;
    throw support::UsageError(
        fmt::format("one run has warps of one width: {0} has {1} lanes, {2} {3}; run it with --arch {0}, and again "
                    "with --arch {2}",
                    first.name, first.warp, other->name, other->warp));
  }
  check_sources(program_);
  const bool is_built = program_.sources.empty();
  if (is_built && options.program.empty()) {
    throw support::UsageError("no program to check: name its sources; see bankcheck emulate --help");
  }
  if (is_built && !output_.empty()) throw support::UsageError("-o needs the program's sources");
  if (!object_.empty() && program_.sources.size() != 1) throw support::UsageError("--object needs exactly one source");
  if (verifies() && is_built) throw support::UsageError("--verify needs the program's sources, to build them again");
  if (!fixed_.empty()) check_fixed(fixed_);
  if (!request_.only_watched) return;
  if (verifies()) throw support::UsageError("--verify compares results, and --only-watched leaves them incomplete");
  if (options.max_groups == 0 && options.max_launches == 0 && options.report.kernels.empty()) {
    throw support::UsageError(
        "--only-watched needs --max-groups, --max-launches or --kernel, which say what is watched");
  }
}

std::vector<std::vector<std::string>> Recorder::runs() {
  std::vector<std::string>& names = options.report.architectures;
  if (program_.sources.empty() || !(program_.hip = is_hip(program_, find_toolchain()))) return {names};
  if (arch_->count() == 0) names = {"gfx942"};
  std::map<unsigned, std::vector<std::string>, std::greater<>> by_lanes;
  for (const std::string& name : names) {
    const banks::Architecture* architecture = banks::find_architecture(name);
    if (architecture == nullptr) return {names};  // which Reporting refuses
    by_lanes[architecture->warp].push_back(name);
  }
  if (by_lanes.size() == 1) return {names};
  const bool has_file = !options.trace.empty() || !options.report.baseline.empty() ||
                        !options.report.update_baseline.empty() || !fixed_.empty() || !output_.empty() ||
                        !object_.empty() ||
                        std::any_of(options.report.outputs.begin(), options.report.outputs.end(),
                                    [](const report::Output& output) { return !output.path.empty(); });
  if (has_file) {
    throw support::UsageError(
        "waves of 64 and of 32 lanes need one run each, and the options name one file for both; name one --arch");
  }
  std::vector<std::vector<std::string>> runs;
  runs.reserve(by_lanes.size());
  for (auto& [lanes, list] : by_lanes) runs.push_back(std::move(list));
  return runs;
}

int check(Recorder& recorder) {
  driver::start_guard();
  const std::vector<std::vector<std::string>> runs = recorder.runs();
  const driver::CheckOptions options = recorder.options;
  int code = support::exit_ok;
  for (const std::vector<std::string>& architectures : runs) {
    recorder.options = options;
    recorder.options.report.architectures = architectures;
    if (runs.size() > 1) driver::tell(fmt::format("now on {}", fmt::join(architectures, ", ")));
    code = std::max(code, driver::check(recorder));
  }
  return code;
}

std::optional<driver::Outcome> Recorder::run(driver::Reporting& reporting) {
  check_options(reporting.architectures());
  const bool is_built = program_.sources.empty();
  const banks::Architecture& architecture = *reporting.architectures().front();
  const unsigned capability = capability_of(architecture);
  choose_architecture(program_, architecture);
  if (is_built || capability == 0) check_cubins(cubins_, is_built);
  if (!object_.empty()) {
    const std::string rule = build_object(program_, find_toolchain(), cache_folder(cache_), object_);
    std::ofstream(object_ + ".d") << object_ << rule;  // for CMake's bankwise_emulate()
    return std::nullopt;
  }
  if (is_built) driver::check_program(options.program.front());
  const std::filesystem::path program = is_built ? driver::find_program(options.program.front())
                                                 : build(program_, find_toolchain(), cache_folder(cache_));
  if (!output_.empty()) keep_file(program, output_);
  EmulatedRun run{.program = program,
                  .command = options.program,
                  .request = request_,
                  .time_limit = options.time_limit,
                  .own_stdout = !reporting.quiet()};
  if (!is_built) run.command.insert(run.command.begin(), run.program.filename().string());
  run.request.architecture = architecture.name;
  run.request.warp = architecture.warp;
  run.request.max_launches = options.max_launches;
  run.request.max_blocks = options.max_groups;
  run.request.memory = options.memory;
  run.request.kernels = names_without_numbers(options.report.kernels);
  options.report.fit.fit |= verifies();
  options.report.patch_waits = verifies();
  if (!verifies() && !is_built)
    options.report.next_after_fit = "--verify makes the change in a copy, runs it and compares";
  options.report.emitted = emitted_lines(cubins_, program_, cache_);
  const auto folder = std::make_shared<driver::TemporaryFolder>();
  if (verifies()) run.request.results = *folder / "results";
  driver::Outcome outcome = run_emulated(run);
  if (verifies()) {
    outcome.verify = [this, run, folder](const driver::Reporting& reported, const trace::Trace& trace) {
      try {
        const std::string_view page = report::path_of(options.report.outputs, "--html");
        const int code = verify(reported, trace, program_, run, cache_folder(cache_), fixed_);
        reported.write_patch(trace, code != support::exit_ok);
        if (!page.empty()) driver::tell(fmt::format("{} was written before, and lacks the result of --verify", page));
        return code;
      } catch (const BuildFailed& failed) {
        reported.write_patch(trace, true);
        throw driver::CommandFailed(failed.exit_code, fmt::format("--verify: with the changes, {}", failed.what()),
                                    failed.details);
      }
    };
  }
  return outcome;
}

}  // namespace bankwise::emulate
