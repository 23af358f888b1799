#include "bankcheck/opencl/recorder.hpp"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <utility>

#include <bankwise/support/text.hpp>
#include "bankcheck/opencl/plugin/launch_log.hpp"

namespace bankwise::opencl {
namespace {

using namespace driver;

constexpr std::size_t longest_message = 4096;

/// Whether the line is the first one of a fatal error: OCLGRIND FATAL ERROR (<file of Oclgrind's sources>:<line>)
bool begins_fatal_error(std::string_view line) {
  if (!line.starts_with("OCLGRIND FATAL ERROR (") || !line.ends_with(')')) return false;
  line.remove_suffix(1);
  const auto digits = line.substr(line.rfind(':') + 1);
  return !digits.empty() && digits.find_first_not_of("0123456789") == std::string_view::npos;
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
  if (messages.fatal_error) return messages.fatal_error;
  for (const std::string& error : file.trace.errors) {
    if (auto reason = logged_fatal_error(error)) return reason;
  }
  return log.unable;
}

/// Nothing if the program ended by itself, with exit code 0.
std::optional<std::string> bad_end(const Ended& ended, const OclgrindMessages& messages, const LaunchLog& log) {
  const std::string where = log.unfinished.empty() ? "" : ", in a launch of " + log.unfinished.begin()->second;
  if (ended.out_of_time) return *driver::failure_of(ended) + where;
  const std::optional<int> code = exit_code_of(ended, log);
  if (messages.failed_assertion && !(crashed(ended) && code)) {
    return fmt::format(
        "an assertion of Oclgrind failed while it ran {}; a known cause is one context that runs kernels of two "
        "threads simultaneously",
        support::in_quotes(ended.program));
  }
  if (!code) return *signal_that_ended(ended) + where;
  return *code == 0 ? std::nullopt : std::optional(failed_with(ended, *code));
}

}  // namespace

void OclgrindMessages::read(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto end = std::min(bytes.find('\n'), bytes.size());
    line_.append(bytes.substr(0, std::min(end, longest_message - line_.size())));
    if (end == bytes.size()) return;
    take(std::exchange(line_, {}));
    bytes.remove_prefix(end + 1);
  }
}

/// A fatal error that stops the creation of a kernel, or of a program's variables, has three lines: file and line of
/// Oclgrind's sources, the reason, and "When ...". One that stops a launch is logged: the plugin records it.
void OclgrindMessages::take(std::string line) {
  const bool is_operation =
      line.starts_with("When creating kernel '") || line == "When initializing program scope global variables";
  if (!fatal_error && is_operation && begins_fatal_error(before_[0])) {
    fatal_error = before_[1] + ", w" + line.substr(1);
  }
  if (!lost_plugin && (line.starts_with("Loading Oclgrind plugin failed (dlopen): ") ||
                       line.starts_with("Loading Oclgrind plugin failed (dlsym): "))) {
    lost_plugin = line;
  }
  if (!failed_assertion && line.find("oclgrind::") != std::string::npos &&
      line.find(": Assertion `") != std::string::npos && line.ends_with("' failed.")) {
    failed_assertion = line;
  }
  before_ = {std::move(before_[1]), std::move(line)};
}

std::optional<std::string> logged_fatal_error(std::string_view error) {
  const auto end = error.find('\n');
  if (end == std::string_view::npos || !begins_fatal_error(error.substr(0, end))) return std::nullopt;
  const auto reason = error.substr(end + 1);
  return std::string(reason.substr(0, reason.find('\n')));
}

LaunchLog read_launch_log(const std::filesystem::path& path) {
  LaunchLog log;
  std::ifstream file(path, std::ios::binary);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string name, kernel, why;
    long process = 0;
    int code = 0;
    if (!(words >> name >> process)) continue;
    if (name == event::begin && words >> kernel) log.unfinished[process] = kernel;
    if (name == event::end) log.unfinished.erase(process);
    if (name == event::exit && words >> code) log.exits[process] = code;
    if (name == event::cut && !log.not_all_groups && std::getline(words >> std::ws, why)) log.not_all_groups = why;
    log.wants_no_gpu |= name == event::no_gpu;
    if (name == event::build) log.build_messages.push_back(line.substr(line.find(' ', name.size() + 1) + 1));
    if (name == event::unable && !log.unable && std::getline(words >> std::ws, why)) log.unable = why;
  }
  return log;
}

std::optional<std::string> failure_of(const Ended& ended, const OclgrindMessages& messages,
                                      const trace::TraceFile& file, const LaunchLog& log) {
  const std::string& program = ended.program;
  const std::vector<std::string>& errors = file.trace.errors;
  if (const auto& why = messages.lost_plugin) {
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
          support::in_quotes(program), reason->substr(undefined.size()));
    }
    return fmt::format(
        "Oclgrind cannot run a kernel of {}; this is a limit of Oclgrind, not a fault of the program: {}",
        support::in_quotes(program), *reason);
  }
  std::string failure = bad_end(ended, messages, log).value_or("");
  if (!errors.empty()) {
    failure += fmt::format(
        "{}kernels of {} are invalid, so their numbers are unreliable; Oclgrind reported {} error{}, first: {}",
        failure.empty() ? "" : "; ", support::in_quotes(program), errors.size(),
        errors.size() == 1                  ? ""
        : errors.size() < trace::max_errors ? "s"
                                            : "s or more",
        first_line(errors.front()));
  }
  if (!failure.empty()) return failure;
  if (file.processes == 0) {
    return fmt::format(
        "Oclgrind saw no OpenCL context of the program {}: it does not use OpenCL, is linked statically, or cleared "
        "its environment",
        support::in_quotes(program));
  }
  if (!log.unfinished.empty()) {
    return fmt::format("a launch of {} had not ended when its process ended, or when the program {} did",
                       log.unfinished.begin()->second, support::in_quotes(program));
  }
  if (file.trace.kernels.empty()) return fmt::format("the program {} ran no kernel", support::in_quotes(program));
  if (log.not_all_groups) return "Oclgrind ran " + *log.not_all_groups;
  for (const trace::KernelTrace& kernel : file.trace.kernels) {
    if (!kernel.left_out.empty()) {
      return fmt::format("{} makes too many accesses between two barriers: {} of them were left out", kernel.kernel,
                         trace::total(kernel.left_out));
    }
  }
  return std::nullopt;
}

}  // namespace bankwise::opencl
