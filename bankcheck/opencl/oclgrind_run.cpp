// SPDX-License-Identifier: MIT
#include "bankcheck/opencl/oclgrind_run.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string_view>

#include <bankwise/support/in_quotes.hpp>
#include <bankwise/support/revision.hpp>
#include <bankwise/trace/json_lines.hpp>

extern char** environ;  // NOLINT(readability-redundant-declaration): no POSIX header declares it

namespace bankwise::opencl {
namespace {

namespace fs = std::filesystem;

std::string last_error() {
  return std::strerror(errno);
}

std::string temporary_folder() {
  std::error_code error;
  const fs::path folder = fs::temp_directory_path(error);
  if (error) {
    const char* variable = std::getenv("TMPDIR");
    throw std::runtime_error(
        fmt::format("cannot use {}, from TMPDIR, for temporary files", in_quotes(variable ? variable : "/tmp")));
  }
  return (folder / "bankcheck.XXXXXX").string();
}

/// A directory that the destructor deletes.
class TemporaryFolder {
 public:
  TemporaryFolder() : path_(temporary_folder()) {
    if (mkdtemp(path_.data()) == nullptr)
      throw std::runtime_error(fmt::format("cannot create {}: {}", path_, last_error()));
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  fs::path operator/(std::string_view name) const { return fs::path(path_) / name; }

 private:
  std::string path_;
};

/// Finds a command as a shell does; empty if there is none.
fs::path find_program(const std::string& name) {
  const auto runs = [](const fs::path& path) {
    std::error_code ignored;
    return access(path.c_str(), X_OK) == 0 && !fs::is_directory(path, ignored);
  };
  if (name.find('/') != std::string::npos) return runs(name) ? fs::path(name) : fs::path();
  const char* variable = std::getenv("PATH");
  std::string_view path = variable == nullptr ? "/usr/bin:/bin" : variable;
  while (!path.empty()) {
    const auto end = std::min(path.find(':'), path.size());
    const fs::path folder(path.substr(0, end));
    if (const fs::path candidate = (folder.empty() ? "." : folder) / name; runs(candidate)) return candidate;
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return {};
}

/// Finds the plugin in the directory of this program, where the build puts it, or in the install directory.
fs::path find_plugin() {
  const fs::path folder = fs::read_symlink("/proc/self/exe").parent_path();
  for (const fs::path& place : {folder, folder / ".." / BANKWISE_PLUGIN_DIRECTORY}) {
    if (fs::exists(place / "bankcheck_oclgrind.so")) return fs::canonical(place / "bankcheck_oclgrind.so");
  }
  throw std::runtime_error(fmt::format(
      "there is no Oclgrind plugin next to bankcheck in {}: bankcheck was built without Oclgrind's headers (Debian, "
      "Ubuntu: apt-get install liboclgrind-dev), please rebuild it",
      folder.string()));
}

void check_program(const std::string& name) {
  errno = 0;
  if (!find_program(name).empty()) return;
  const bool is_path = name.find('/') != std::string::npos;
  throw std::runtime_error(fmt::format("cannot run {}: {}", in_quotes(name),
                                       !is_path                 ? "there is no such program on the PATH"
                                       : fs::is_directory(name) ? "it is a directory"
                                                                : last_error()));
}

/// Registers Oclgrind as an OpenCL driver for programs that load the ICD loader at run time. Oclgrind preloads itself
/// into programs that are linked with OpenCL.
void register_icd(const fs::path& oclgrind, const TemporaryFolder& folder) {
  const fs::path driver = fs::canonical(oclgrind).parent_path() / ".." / "lib" / "oclgrind" / "liboclgrind-rt-icd.so";
  if (!fs::exists(driver)) return;
  fs::create_directory(folder / "vendors");
  std::ofstream(folder / "vendors" / "oclgrind.icd") << fs::canonical(driver).string() << '\n';
  setenv("OCL_ICD_VENDORS", (folder / "vendors").c_str(), 1);
}

std::string line_behind(const std::string& text, std::size_t at, unsigned lines) {
  for (; lines > 0 && at != std::string::npos; --lines) {
    at = text.find('\n', at);
    if (at != std::string::npos) ++at;
  }
  if (at == std::string::npos) return "";
  return text.substr(at, text.find('\n', at) - at);
}

/// Forwards signals that would end bankcheck to the child, so that bankcheck can report and clean up. The child
/// receives Ctrl-C and SIGPIPE directly.
class SignalsToChild {
 public:
  static constexpr std::array signals{SIGINT, SIGTERM, SIGHUP, SIGPIPE};

  SignalsToChild() {
    for (const int signal : signals)
      before_.push_back(std::signal(signal, signal == SIGINT || signal == SIGPIPE ? SIG_IGN : pass_on));
  }
  SignalsToChild(const SignalsToChild&) = delete;
  SignalsToChild& operator=(const SignalsToChild&) = delete;
  ~SignalsToChild() {
    child_ = 0;
    for (std::size_t i = 0; i < signals.size(); ++i) std::signal(signals[i], before_[i]);
  }
  static void set_child(pid_t child) {
    child_ = child;
    if (caught_ != 0) kill(child, caught_);
  }

 private:
  static void pass_on(int signal) {
    caught_ = signal;
    if (child_ > 0) kill(child_, signal);
  }
  static inline volatile std::sig_atomic_t child_ = 0, caught_ = 0;
  std::vector<void (*)(int)> before_;
};

/// Restores the default action of SIGCHLD: if the parent process ignores it, the system keeps no exit code of our
/// child.
class KeepsExitCodes {
 public:
  KeepsExitCodes() : before_(std::signal(SIGCHLD, SIG_DFL)) {}
  KeepsExitCodes(const KeepsExitCodes&) = delete;
  KeepsExitCodes& operator=(const KeepsExitCodes&) = delete;
  ~KeepsExitCodes() { std::signal(SIGCHLD, before_); }

 private:
  void (*before_)(int);
};

struct Ended {
  int status = 0;
  std::string errors;  ///< the end of what it wrote to stderr
};

/// Copies the child's stderr to ours and keeps the end of it. A child of the child may keep the pipe open much longer.
Ended wait_for(pid_t child, int pipe) {
  constexpr std::size_t most = 1 << 20;
  Ended ended;
  for (bool running = true, open = true; running || open;) {
    pollfd ready{pipe, POLLIN, 0};
    const int events = open ? poll(&ready, 1, running ? 50 : 0) : 0;
    if (events > 0) {
      char buffer[4096];
      const ssize_t bytes = read(pipe, buffer, sizeof buffer);
      open = bytes > 0;
      for (ssize_t done = 0; done < bytes;) {
        const ssize_t wrote = write(STDERR_FILENO, buffer + done, std::size_t(bytes - done));
        if (wrote <= 0) break;
        done += wrote;
      }
      if (bytes > 0) ended.errors.append(buffer, std::size_t(bytes));
      if (ended.errors.size() > most) ended.errors.erase(0, ended.errors.size() - most / 2);
    } else if (!running) {
      open = false;
    }
    if (!running) continue;
    const pid_t changed = waitpid(child, &ended.status, open ? WNOHANG : 0);
    if (changed == -1 && errno != EINTR) throw std::runtime_error("cannot wait for the program: " + last_error());
    running = changed != child;
  }
  return ended;
}

Ended start_and_wait(const std::vector<std::string>& command, bool own_stdout) {
  int pipe_ends[2];
  if (pipe2(pipe_ends, O_CLOEXEC) != 0) throw std::runtime_error("cannot create a pipe: " + last_error());
  std::vector<char*> arguments;
  for (const std::string& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (!own_stdout) posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], STDERR_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t as_usual;
  sigemptyset(&as_usual);
  for (const int signal : SignalsToChild::signals) sigaddset(&as_usual, signal);
  posix_spawnattr_setsigdefault(&attributes, &as_usual);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);

  const KeepsExitCodes keeps_exit_codes;
  const SignalsToChild signals;
  pid_t child = 0;
  const int error = posix_spawn(&child, command.front().c_str(), &actions, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  close(pipe_ends[1]);
  Ended ended;
  if (error == 0) {
    SignalsToChild::set_child(child);
    ended = wait_for(child, pipe_ends[0]);
  }
  close(pipe_ends[0]);
  if (error != 0) {
    throw std::runtime_error(fmt::format("cannot run {}: {}", in_quotes(command.front()), std::strerror(error)));
  }
  return ended;
}

/// The reason why Oclgrind could not run a kernel. Its output has a file and line of Oclgrind's sources, then the
/// reason, and sometimes the operation ("When ...").
std::optional<std::string> fatal_error(const std::string& text) {
  const auto at = text.find("OCLGRIND FATAL ERROR");
  if (at == std::string::npos) return std::nullopt;
  const std::string where = line_behind(text, at, 2);
  std::string reason = line_behind(text, at, 1);
  if (where.starts_with("When ")) reason += ", w" + where.substr(1);
  return reason;
}

std::string first_line(const std::string& text) {
  const auto begin = text.find_first_not_of("\n ");
  return begin == std::string::npos ? "" : text.substr(begin, text.find('\n', begin) - begin);
}

/// The first failure that applies, in the order of causes.
std::optional<std::string> failure_of(const std::string& program, const Ended& ended, const trace::TraceFile& file) {
  const std::vector<std::string>& errors = file.trace.errors;
  std::string all = ended.errors;
  for (const std::string& error : errors) all += '\n' + error;
  if (const auto at = all.find("Loading Oclgrind plugin failed"); at != std::string::npos) {
    return fmt::format(
        "Oclgrind could not load bankcheck's plugin ({}); please rebuild bankcheck with the headers of the "
        "installed Oclgrind",
        line_behind(all, at, 0));
  }
  if (const auto reason = fatal_error(all)) {
    constexpr std::string_view undefined = "Undefined external function: ";
    if (reason->starts_with(undefined)) {
      return fmt::format(
          "Oclgrind cannot run a kernel of {}: neither Oclgrind nor the program's source defines the function {}",
          in_quotes(program), reason->substr(undefined.size()));
    }
    return fmt::format(
        "Oclgrind cannot run a kernel of {}; this is a limit of Oclgrind, not a fault of the program: {}",
        in_quotes(program), *reason);
  }
  if (const auto at = all.find("oclgrind::");
      at != std::string::npos && all.find("Assertion", at) != std::string::npos) {
    return fmt::format(
        "an assertion of Oclgrind failed while it ran {}; a known cause is one context that runs kernels of two "
        "threads "
        "simultaneously",
        in_quotes(program));
  }
  if (WIFSIGNALED(ended.status)) {
    const int signal = WTERMSIG(ended.status);
    const bool from_outside = signal == SIGKILL || signal == SIGINT || signal == SIGTERM || signal == SIGHUP;
    return fmt::format("the program {} {} signal {} ({})", in_quotes(program),
                       from_outside ? "was ended by" : "crashed:", signal, strsignal(signal));
  }
  if (all.find("[Oclgrind] Failed to launch") != std::string::npos) {
    return fmt::format("cannot run {}: it is not an executable for this machine", in_quotes(program));
  }
  if (WEXITSTATUS(ended.status) != 0) {
    return fmt::format("the program {} failed with exit code {}", in_quotes(program), WEXITSTATUS(ended.status));
  }
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
  const fs::path plugin = find_plugin();
  check_program(run.command.front());
  const TemporaryFolder folder;
  std::string architectures;
  for (const banks::Architecture* one : run.architectures) {
    architectures += (architectures.empty() ? "" : ",") + std::string(one->name);
  }
  setenv("BANKWISE_RECORD", (folder / "record").c_str(), 1);
  setenv("BANKWISE_ARCHITECTURES", architectures.c_str(), 1);
  register_icd(oclgrind, folder);
  const trace::Trace header{.maker = "bankcheck opencl", .revision = std::string(revision()), .command = run.command};
  std::ofstream(folder / "record", std::ios::binary) << header_line(header);

  // -O0: Oclgrind executes some optimized code incorrectly, and the accesses of optimized code differ from a GPU's.
  std::vector<std::string> command{
      oclgrind.string(), "--build-options", "-O0", "--local-mem-size", std::to_string(run.local_memory),
      "--plugins",       plugin.string()};
  command.insert(command.end(), run.command.begin(), run.command.end());
  const Ended ended = start_and_wait(command, run.own_stdout);

  Outcome outcome;
  const std::string& program = run.command.front();
  const auto damaged = [&](std::uint64_t line) {
    return fmt::format(
        "line {} of the plugin's record is damaged: the program {} wrote into the file, or crashed while the plugin "
        "wrote it",
        line, in_quotes(program));
  };
  std::ifstream record(folder / "record", std::ios::binary);
  try {
    trace::TraceFile file = trace::read_json_lines(record, "record");
    outcome.failure = file.cut_line > 0 ? damaged(file.cut_line) : failure_of(program, ended, file);
    outcome.trace = std::move(file.trace);
  } catch (const trace::BadLine& bad) {
    outcome.trace = header;
    outcome.failure = damaged(bad.line);
  }
  return outcome;
}

}  // namespace bankwise::opencl
