// SPDX-License-Identifier: MIT
#include "bankcheck/opencl/oclgrind_run.hpp"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string_view>

#include <bankwise/support/in_quotes.hpp>
#include <bankwise/support/revision.hpp>
#include <bankwise/trace/json_lines.hpp>
#include "bankcheck/check/child_process.hpp"
#include "bankcheck/opencl/launch_log.hpp"
#include "bankcheck/opencl/oclgrind_messages.hpp"

namespace bankwise::opencl {
namespace {

namespace fs = std::filesystem;

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
  if (ours.string().find_first_of(" :") != std::string::npos) {
    throw std::runtime_error(fmt::format(
        "cannot use {} for temporary files: libraries cannot be preloaded from a directory whose name has a space or a "
        "colon; set TMPDIR",
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
std::optional<std::string> failure_of(const std::string& program, const Ended& ended, const OclgrindMessages& messages,
                                      const trace::TraceFile& file, const LaunchLog& log) {
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
  for (const trace::KernelTrace& kernel : file.trace.kernels) {
    if (const std::uint64_t launched = launched_blocks(kernel); kernel.blocks != launched) {
      return fmt::format("Oclgrind ran {} of the {} work-groups of {}", kernel.blocks, launched, kernel.kernel);
    }
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
  setenv("BANKWISE_RECORD", (folder / "record").c_str(), 1);
  setenv("BANKWISE_LAUNCHES", (folder / "launches").c_str(), 1);
  setenv("BANKWISE_ARCHITECTURES", architectures.c_str(), 1);
  setenv("BANKWISE_OPENCL_DEVICE", run.device.c_str(), 1);
  const fs::path libraries = fs::canonical(fs::canonical(oclgrind).parent_path() / ".." / "lib" / "oclgrind");
  register_icd(libraries, plugin, folder);
  const trace::Trace header{.maker = "bankcheck opencl", .revision = std::string(revision()), .command = run.command};
  std::ofstream(folder / "record", std::ios::binary) << header_line(header);

  // -O0: Oclgrind executes some optimized code incorrectly, and the accesses of optimized code differ from a GPU's.
  setenv("OCLGRIND_BUILD_OPTIONS", "-O0", 1);
  setenv("OCLGRIND_LOCAL_MEM_SIZE", std::to_string(run.local_memory).c_str(), 1);
  setenv("OCLGRIND_PLUGINS", plugin.c_str(), 1);
  preload(libraries, plugin, folder);
  OclgrindMessages messages;
  const Ended ended = start_and_wait(find_program(run.command.front()), run.command, run.own_stdout,
                                     [&](std::string_view bytes) { messages.read(bytes); });

  Outcome outcome;
  const std::string& program = run.command.front();
  const auto damaged = [&](std::uint64_t line) {
    return fmt::format(
        "line {} of the plugin's record is damaged: the program {} wrote into the file, or crashed while the plugin "
        "wrote it",
        line, in_quotes(program));
  };
  const LaunchLog log = read_launch_log(folder / "launches");
  std::ifstream record(folder / "record", std::ios::binary);
  try {
    trace::TraceFile file = trace::read_json_lines(record, "record");
    outcome.failure = file.cut_line > 0 ? damaged(file.cut_line) : failure_of(program, ended, messages, file, log);
    if (!outcome.failure && crashed(ended)) {
      outcome.remark = *signal_that_ended(program, ended) + ", at exit, after its last launch had ended";
    }
    outcome.trace = std::move(file.trace);
  } catch (const trace::BadLine& bad) {
    outcome.trace = header;
    outcome.failure = damaged(bad.line);
  }
  return outcome;
}

}  // namespace bankwise::opencl
