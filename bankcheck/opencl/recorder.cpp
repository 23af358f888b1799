#include "bankcheck/opencl/recorder.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <stdexcept>

#include <bankwise/support/exit_code.hpp>
#include <bankwise/support/library.hpp>
#include <bankwise/support/numbers.hpp>
#include <bankwise/support/text.hpp>
#include "bankcheck/opencl/device_properties.hpp"

namespace bankwise::opencl {
namespace {

namespace fs = std::filesystem;
using namespace driver;

std::string keys() {
  std::string list;
  for (const DeviceProperty& property : device_properties) {
    list += (list.empty() ? "" : ", ") + std::string(property.key);
  }
  return list;
}

/// Kernels as OpenCL names them: the report may add build options, or a number, to make names distinct.
std::vector<std::string> names_without_suffixes(const std::vector<std::string>& kernels) {
  std::vector<std::string> names;
  names.reserve(kernels.size());
  for (const std::string& kernel : kernels) names.push_back(kernel.substr(0, kernel.find_first_of(" #")));
  return names;
}

/// Registers Oclgrind as an OpenCL driver for programs that load the ICD loader at run time. Returns the driver to
/// which ours (driver/driver.cpp) passes all requests on; "" without one.
std::string register_icd(const fs::path& libraries, const fs::path& plugin, const TemporaryFolder& folder) {
  const fs::path driver = libraries / "liboclgrind-rt-icd.so";
  if (!fs::exists(driver)) return "";
  fs::create_directory(folder / "vendors");
  std::ofstream(folder / "vendors" / "oclgrind.icd")
      << (plugin.parent_path() / "bankcheck_opencl_driver.so").string() << '\n';
  setenv("OCL_ICD_VENDORS", (folder / "vendors").c_str(), 1);
  return fs::canonical(driver);
}

/// Preloads Oclgrind into programs that are linked with OpenCL, as the command `oclgrind` does, and before it our
/// library (driver/preloaded.cpp), which makes the device a GPU and watches the program's end. The
/// library is named by a link in `folder`: the dynamic linker separates names by spaces and colons.
void preload(const fs::path& libraries, const fs::path& plugin, const TemporaryFolder& folder) {
  const fs::path runtime = libraries / "liboclgrind-rt.so", ours = folder / "preload.so";
  if (!fs::exists(runtime)) throw std::runtime_error(fmt::format("Oclgrind's library {} is missing", runtime.string()));
  if (ours.string().find_first_of(" :,") != std::string::npos) {
    throw std::runtime_error(fmt::format(
        "cannot use {} for temporary files: libraries cannot be loaded from a directory whose name has a space, a "
        "colon or a comma; set TMPDIR",
        support::in_quotes(folder.path().parent_path().string())));
  }
  fs::create_symlink(plugin.parent_path() / "bankcheck_opencl_preload.so", ours);
  support::put_first("LD_LIBRARY_PATH", libraries.string());
  support::put_first("LD_PRELOAD", ours.string() + ':' + runtime.string());
}

/// Appends what the plugin has saved of launches that did not end to a record whose last line is complete.
void append_unfinished(const LaunchLog& log, const TemporaryFolder& folder) {
  char last = '\0';
  std::ifstream(folder / "record", std::ios::binary).seekg(-1, std::ios::end).get(last);
  if (last != '\n') return;
  std::ofstream record(folder / "record", std::ios::binary | std::ios::app);
  for (const auto& [process, kernel] : log.unfinished) {
    std::ifstream saved(folder / fmt::format("unfinished.{}", process), std::ios::binary);
    if (saved) record << saved.rdbuf();
  }
}

/// Prints the compiler's messages about the program's OpenCL C, and adds the first error to the failure.
void add_build_messages(std::string& failure, const std::vector<std::string>& messages) {
  if (messages.empty()) return;
  std::fputs(support::visible(fmt::format("{}\n", fmt::join(messages, "\n"))).c_str(), stderr);
  const auto error = std::find_if(messages.begin(), messages.end(),
                                  [](const std::string& line) { return line.find("error: ") != std::string::npos; });
  failure += "; its OpenCL C does not compile: " + (error == messages.end() ? messages.front() : *error);
}

fs::path oclgrind_libraries() {
  const fs::path oclgrind = find_program("oclgrind");
  if (oclgrind.empty()) {
    throw std::runtime_error(
        "Oclgrind is not installed: there is no oclgrind on the PATH (Debian, Ubuntu: apt-get install oclgrind)");
  }
  return fs::canonical(fs::canonical(oclgrind).parent_path() / ".." / "lib" / "oclgrind");
}

}  // namespace

fs::path find_library(std::string_view name) {
  fs::path library = find_next_to_bankcheck(name);
  if (library.empty()) {
    throw std::runtime_error(fmt::format(
        "there is no {} next to bankcheck: bankcheck was built without Oclgrind's headers (Debian, Ubuntu: apt-get "
        "install liboclgrind-dev), please rebuild it",
        name));
  }
  return library;
}

std::vector<std::string> device_values(const std::vector<std::string>& device_info, const banks::Architecture& first) {
  support::Lines lines;
  for (const std::string& given : device_info) {
    const auto refuse = [&](const std::string& needed) {
      throw support::UsageError(fmt::format("--device-info {}: it needs {}", support::in_quotes(given), needed));
    };
    const auto end = given.find('=');
    const std::string key = given.substr(0, end);
    const DeviceProperty* const property = property_of(key);
    if (end == std::string::npos || property == nullptr) refuse("KEY=VALUE with one of the keys " + keys());
    const std::string value = given.substr(end + 1);
    std::uint64_t number = 0;
    const bool fits = property->bytes == 0 ? !value.empty() && value.find('\n') == std::string::npos
                                           : support::parse_number(value, number) && number > 0 && number <= UINT32_MAX;
    if (!fits) refuse(property->bytes == 0 ? "a text of one line" : "a number from 1 to 2^32-1");
    lines.push_back(given);
  }
  lines.push_back(fmt::format("preferred-multiple={}", first.warp));  // unless it is given: the first line counts
  return lines;
}

void Recorder::declare(CLI::App& command) {
  command.footer(
      "The program and its arguments follow the options; -- may stand before them.\n"
      "Exit codes: 0 ok, 1 more conflicts than allowed, or no layout that --measure could measure, 2 usage, 3 the "
      "program or Oclgrind failed. With --max-conflicts or --baseline the exit code is otherwise 1 for every "
      "incomplete trace.\n"
      "Example: bankcheck opencl --arch h100,mi300x --max-conflicts 0 ./my_program --size 256");
  command.add_option("--local-memory", local_memory_, "Bytes of local memory that the simulated device reports")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 30))
      ->type_name("BYTES")
      ->capture_default_str();
  command
      .add_option("--device-info", device_info_,
                  "Property that the simulated GPU reports; may be repeated. Keys: " + keys())
      ->allow_extra_args(false)
      ->type_name("KEY=VALUE");
  declare_measure(command, measure_);
}

std::optional<Outcome> Recorder::run(Reporting& reporting) {
  if (options.program.empty())
    throw support::UsageError("no program to check: give it after the options; see bankcheck opencl --help");
  WatchedRun run{.request = {.kernels = names_without_suffixes(options.report.kernels),
                             .max_launches = options.max_launches,
                             .max_groups = options.max_groups,
                             .memory = options.memory,
                             .device = device_values(device_info_, *reporting.architectures().front())},
                 .program = options.program,
                 .local_memory = local_memory_,
                 .time_limit = options.time_limit,
                 .own_stdout = !reporting.quiet()};
  for (const banks::Architecture* architecture : reporting.architectures()) {
    run.request.architectures.emplace_back(architecture->name);
  }
  options.report.fit.fit |= measure_.measure;
  if (measure_.measure) (void)find_library(layer_library);
  Outcome outcome = run_watched(run);
  if (measure_.measure) {
    outcome.verify = [this, run](Reporting& reported, const trace::Trace& trace) {
      return measure_texts(reported, trace, measure_, run);
    };
  }
  return outcome;
}

Outcome run_watched(WatchedRun run) {
  const std::string& program = run.program.front();
  const fs::path libraries = oclgrind_libraries(), plugin = find_library("bankcheck_oclgrind.so");
  check_program(program);
  const KeptEnvironment kept;
  const TemporaryFolder folder;
  const trace::Trace header{
      .maker = trace::Maker::opencl, .revision = std::string(support::revision()), .command = run.program};
  support::OpenclRequest& request = run.request;
  request.record = begin_record(folder, header);
  request.unfinished = folder / "unfinished";
  request.launches = folder / "launches";
  request.unwatched = folder / "unwatched";
  request.oclgrind_driver = register_icd(libraries, plugin, folder);
  write_request(request);

  // -O0: Oclgrind executes some optimized code incorrectly, and the accesses of optimized code differ from a GPU's.
  setenv("OCLGRIND_BUILD_OPTIONS", "-O0", 1);
  setenv("OCLGRIND_LOCAL_MEM_SIZE", std::to_string(run.local_memory).c_str(), 1);
  fs::create_symlink(plugin, folder / "plugin.so");  // Oclgrind splits the list at commas
  setenv("OCLGRIND_PLUGINS", (folder / "plugin.so").c_str(), 1);
  preload(libraries, plugin, folder);
  OclgrindMessages messages;
  Progress progress(folder / "progress", blocks_word);
  const Ended ended = start_and_wait(find_program(program), run.program,
                                     {.own_stdout = run.own_stdout,
                                      .watch_stderr = [&](std::string_view bytes) { messages.read(bytes); },
                                      .progress = &progress,
                                      .time_limit = run.time_limit,
                                      .hint = hint_to_watch_less(request.max_groups, blocks_word)});

  Outcome outcome;
  const auto damaged = [&](std::uint64_t line) {
    return fmt::format(
        "line {} of the plugin's record is damaged: the program {} wrote into the file, or crashed while the plugin "
        "wrote it",
        line, support::in_quotes(program));
  };
  const LaunchLog log = read_launch_log(folder / "launches");
  append_unfinished(log, folder);
  std::ifstream lines(request.record, std::ios::binary);
  try {
    trace::TraceFile file = trace::read_json_lines(lines, "record");
    outcome.failure = file.cut_line > 0 ? damaged(file.cut_line) : failure_of(ended, messages, file, log);
    if (!outcome.failure && crashed(ended)) {
      outcome.remarks.push_back(*signal_that_ended(ended) + ", at exit, after its last launch had ended");
    }
    outcome.trace = std::move(file.trace);
  } catch (const trace::BadLine& bad) {
    outcome.trace = header;
    outcome.failure = damaged(bad.line);
  }
  add_end(outcome, ended, folder, plugin.filename().string());
  if (outcome.failure) add_build_messages(*outcome.failure, log.build_messages);
  if (outcome.failure && outcome.trace.kernels.empty() && log.wants_no_gpu)
    *outcome.failure += "; it asked for a device that is no GPU, and bankcheck opencl has only a GPU";
  return outcome;
}

}  // namespace bankwise::opencl
