// SPDX-License-Identifier: MIT
#include "bankcheck/opencl/oclgrind_run.hpp"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string_view>

#include <bankwise/support/in_quotes.hpp>
#include <bankwise/support/revision.hpp>
#include <bankwise/trace/json_lines.hpp>
#include "bankcheck/driver/child_process.hpp"
#include "bankcheck/driver/progress_file.hpp"
#include "bankcheck/opencl/launch_log.hpp"
#include "bankcheck/opencl/oclgrind_messages.hpp"

namespace bankwise::opencl {
namespace {

namespace fs = std::filesystem;
using namespace driver;

/// Registers Oclgrind as an OpenCL driver for programs that load the ICD loader at run time (driver/driver.cpp).
void register_icd(const fs::path& libraries, const fs::path& plugin, const TemporaryFolder& folder) {
  const fs::path driver = libraries / "liboclgrind-rt-icd.so";
  if (!fs::exists(driver)) return;
  fs::create_directory(folder / "vendors");
  std::ofstream(folder / "vendors" / "oclgrind.icd")
      << (plugin.parent_path() / "bankcheck_opencl_driver.so").string() << '\n';
  setenv("BANKWISE_OCLGRIND_DRIVER", fs::canonical(driver).c_str(), 1);
  setenv("OCL_ICD_VENDORS", (folder / "vendors").c_str(), 1);
}

/// Preloads Oclgrind into programs that are linked with OpenCL, as the command `oclgrind` does, and before it our
/// library, which makes the device a GPU (driver/preloaded.cpp) and watches the program's end (driver/at_exit.cpp). The
/// library is named by a link in `folder`: the dynamic linker separates names by spaces and colons.
void preload(const fs::path& libraries, const fs::path& plugin, const TemporaryFolder& folder) {
  const fs::path runtime = libraries / "liboclgrind-rt.so", ours = folder / "preload.so";
  if (!fs::exists(runtime)) throw std::runtime_error(fmt::format("Oclgrind's library {} is missing", runtime.string()));
  if (ours.string().find_first_of(" :,") != std::string::npos) {
    throw std::runtime_error(fmt::format(
        "cannot use {} for temporary files: libraries cannot be loaded from a directory whose name has a space, a "
        "colon or a comma; set TMPDIR",
        in_quotes(folder.path().parent_path().string())));
  }
  fs::create_symlink(plugin.parent_path() / "bankcheck_opencl_preload.so", ours);
  const auto put_first = [](const char* variable, const std::string& names) {
    const char* others = std::getenv(variable);
    setenv(variable, (others == nullptr || *others == '\0' ? names : names + ':' + others).c_str(), 1);
  };
  put_first("LD_LIBRARY_PATH", libraries.string());
  put_first("LD_PRELOAD", ours.string() + ':' + runtime.string());
}

std::string first_line(const std::string& text) {
  const auto begin = text.find_first_not_of("\n ");
  return begin == std::string::npos ? "" : text.substr(begin, text.find('\n', begin) - begin);
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

/// The exit code of a program, also of one that crashed after it had called exit() and all launches had ended. Nothing
/// if a signal ended it before.
std::optional<int> exit_code_of(const Ended& ended, const LaunchLog& log) {
  if (WIFEXITED(ended.status)) return WEXITSTATUS(ended.status);
  const auto exit = log.exits.find(ended.process);
  if (!crashed(ended) || exit == log.exits.end() || !log.unfinished.empty()) return std::nullopt;
  return exit->second & 0xff;
}

/// The reason why Oclgrind cannot run a kernel; nothing if it can run all.
std::optional<std::string> fatal_error(const OclgrindMessages& messages, const trace::TraceFile& file,
                                       const LaunchLog& log) {
  if (messages.fatal_error()) return messages.fatal_error();
  for (const std::string& error : file.trace.errors) {
    if (auto reason = logged_fatal_error(error)) return reason;
  }
  return log.unable;
}

/// The first failure that applies, in the order of causes.
std::optional<std::string> failure_of(const std::string& program, double time_limit, const Ended& ended,
                                      const OclgrindMessages& messages, const trace::TraceFile& file,
                                      const LaunchLog& log) {
  const std::vector<std::string>& errors = file.trace.errors;
  if (const auto& why = messages.lost_plugin()) {
    return fmt::format(
        "Oclgrind could not load bankcheck's plugin ({}); please rebuild bankcheck with the headers of the "
        "installed Oclgrind",
        *why);
  }
  if (const auto reason = fatal_error(messages, file, log)) {
    constexpr std::string_view undefined = "Undefined external function: ";
    if (reason->starts_with(undefined) && !reason->starts_with(fmt::format("{}llvm.", undefined))) {
      return fmt::format(
          "Oclgrind cannot run a kernel of {}: neither Oclgrind nor the program's source defines the function {}",
          in_quotes(program), reason->substr(undefined.size()));
    }
    return fmt::format(
        "Oclgrind cannot run a kernel of {}; this is a limit of Oclgrind, not a fault of the program: {}",
        in_quotes(program), *reason);
  }
  if (ended.out_of_time) return out_of_time(program, time_limit);
  const std::optional<int> code = exit_code_of(ended, log);
  if (messages.failed_assertion() && !(crashed(ended) && code)) {
    return fmt::format(
        "an assertion of Oclgrind failed while it ran {}; a known cause is one context that runs kernels of two "
        "threads "
        "simultaneously",
        in_quotes(program));
  }
  if (!code) return signal_that_ended(program, ended);
  if (*code != 0) return fmt::format("the program {} failed with exit code {}", in_quotes(program), *code);
  if (!errors.empty()) {
    return fmt::format(
        "kernels of {} are invalid, so their numbers are unreliable; Oclgrind reported {} error{}, first: {}",
        in_quotes(program), errors.size(),
        errors.size() == 1                  ? ""
        : errors.size() < trace::max_errors ? "s"
                                            : "s or more",
        first_line(errors.front()));
  }
  if (file.processes == 0) {
    return fmt::format(
        "Oclgrind saw no OpenCL context of the program {}: it does not use OpenCL, is linked statically, or cleared "
        "its "
        "environment",
        in_quotes(program));
  }
  if (!log.unfinished.empty()) {
    return fmt::format("a launch of {} had not ended when its process ended, or when the program {} did",
                       log.unfinished.begin()->second, in_quotes(program));
  }
  if (file.trace.kernels.empty()) return fmt::format("the program {} ran no kernel", in_quotes(program));
  if (log.not_all_groups) return "Oclgrind ran " + *log.not_all_groups;
  for (const trace::KernelTrace& kernel : file.trace.kernels) {
    if (kernel.left_out > 0) {
      return fmt::format("{} makes too many accesses between two barriers: {} of them were left out", kernel.kernel,
                         kernel.left_out);
    }
  }
  return std::nullopt;
}

}  // namespace

Outcome run_under_oclgrind(const OclgrindRun& run) {
  const fs::path oclgrind = find_program("oclgrind");
  if (oclgrind.empty()) {
    throw std::runtime_error(
        "Oclgrind is not installed: there is no oclgrind on the PATH (Debian, Ubuntu: apt-get install oclgrind)");
  }
  const fs::path plugin = find_next_to_bankcheck("bankcheck_oclgrind.so");
  if (plugin.empty()) {
    throw std::runtime_error(
        "there is no Oclgrind plugin next to bankcheck: bankcheck was built without Oclgrind's headers (Debian, "
        "Ubuntu: "
        "apt-get install liboclgrind-dev), please rebuild it");
  }
  check_program(run.command.front());
  const TemporaryFolder folder;
  std::string architectures;
  for (const banks::Architecture* one : run.architectures) {
    architectures += (architectures.empty() ? "" : ",") + std::string(one->name);
  }
  std::string globs;
  for (const std::string& glob : run.kernels) globs += glob + '\n';
  setenv("BANKWISE_KERNELS", globs.c_str(), 1);
  setenv("BANKWISE_MAX_LAUNCHES", std::to_string(run.max_launches).c_str(), 1);
  setenv("BANKWISE_MAX_GROUPS", std::to_string(run.max_groups).c_str(), 1);
  setenv("BANKWISE_RECORD", (folder / "record").c_str(), 1);
  setenv("BANKWISE_UNFINISHED", (folder / "unfinished").c_str(), 1);
  setenv("BANKWISE_LAUNCHES", (folder / "launches").c_str(), 1);
  setenv("BANKWISE_ARCHITECTURES", architectures.c_str(), 1);
  setenv("BANKWISE_OPENCL_DEVICE", run.device.c_str(), 1);
  const fs::path libraries = fs::canonical(fs::canonical(oclgrind).parent_path() / ".." / "lib" / "oclgrind");
  register_icd(libraries, plugin, folder);
  const trace::Trace header{.maker = trace::Maker::opencl, .revision = std::string(revision()), .command = run.command};
  std::ofstream(folder / "record", std::ios::binary) << header_line(header);

  // -O0: Oclgrind executes some optimized code incorrectly, and the accesses of optimized code differ from a GPU's.
  setenv("OCLGRIND_BUILD_OPTIONS", "-O0", 1);
  setenv("OCLGRIND_LOCAL_MEM_SIZE", std::to_string(run.local_memory).c_str(), 1);
  fs::create_symlink(plugin, folder / "plugin.so");  // Oclgrind splits the list at commas
  setenv("OCLGRIND_PLUGINS", (folder / "plugin.so").c_str(), 1);
  preload(libraries, plugin, folder);
  OclgrindMessages messages;
  const ProgressFile progress(folder / "progress", "work-groups");
  ProgressLine progress_line([&] { return progress.text(); });
  const Ended ended = start_and_wait(find_program(run.command.front()), run.command,
                                     {.own_stdout = run.own_stdout,
                                      .watch_stderr = [&](std::string_view bytes) { messages.read(bytes); },
                                      .progress = &progress_line,
                                      .time_limit = run.time_limit});

  Outcome outcome;
  const std::string& program = run.command.front();
  const auto damaged = [&](std::uint64_t line) {
    return fmt::format(
        "line {} of the plugin's record is damaged: the program {} wrote into the file, or crashed while the plugin "
        "wrote it",
        line, in_quotes(program));
  };
  const LaunchLog log = read_launch_log(folder / "launches");
  append_unfinished(log, folder);
  std::ifstream record(folder / "record", std::ios::binary);
  try {
    trace::TraceFile file = trace::read_json_lines(record, "record");
    outcome.failure =
        file.cut_line > 0 ? damaged(file.cut_line) : failure_of(program, run.time_limit, ended, messages, file, log);
    if (!outcome.failure && crashed(ended)) {
      outcome.remarks.push_back(*signal_that_ended(program, ended) + ", at exit, after its last launch had ended");
    }
    if (const auto left = still_running(program, ended)) {
      const bool runs_kernels = std::any_of(ended.left_running.begin(), ended.left_running.end(),
                                            [&](long one) { return has_loaded(one, plugin.filename().string()); });
      (runs_kernels || outcome.failure ? outcome.incomplete : outcome.remarks).push_back(*left);
    }
    outcome.interrupted = outcome.failure && (ended.interrupted || ended.out_of_time || ended_from_outside(ended));
    outcome.trace = std::move(file.trace);
  } catch (const trace::BadLine& bad) {
    outcome.trace = header;
    outcome.failure = damaged(bad.line);
  }
  return outcome;
}

}  // namespace bankwise::opencl
