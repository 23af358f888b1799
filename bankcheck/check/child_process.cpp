// SPDX-License-Identifier: MIT
#include "bankcheck/check/child_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <system_error>

#include <bankwise/support/in_quotes.hpp>

extern char** environ;  // NOLINT(readability-redundant-declaration): POSIX has it in no header

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
  /// After a signal the rest of bankcheck, which reports and cleans up, ignores more of them: `timeout` sends two.
  ~SignalsToChild() {
    child_ = 0;
    for (std::size_t i = 0; i < signals.size(); ++i) std::signal(signals[i], caught_ == 0 ? before_[i] : SIG_IGN);
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

/// Whether a file is machine code, and no script.
bool is_machine_code(const fs::path& program) {
  std::array<char, 4> start{};
  std::ifstream(program, std::ios::binary).read(start.data(), start.size());
  return std::string_view(start.data(), start.size()) ==
         "\x7f"
         "ELF";
}

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

/// Copies the child's stderr to ours, and shows it to `watch_stderr`. A child of the child may keep the pipe open much
/// longer.
Ended wait_for(pid_t child, int pipe, const std::function<void(std::string_view)>& watch_stderr) {
  Ended ended{.process = child};
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
      if (bytes > 0 && watch_stderr) watch_stderr({buffer, std::size_t(bytes)});
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

}  // namespace

TemporaryFolder::TemporaryFolder() {
  std::string path = temporary_folder();
  if (mkdtemp(path.data()) == nullptr)
    throw std::runtime_error(fmt::format("cannot create {}: {}", path, last_error()));
  path_ = path;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

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

void check_program(const std::string& name) {
  errno = 0;
  if (!find_program(name).empty()) return;
  const bool is_path = name.find('/') != std::string::npos;
  throw std::runtime_error(fmt::format("cannot run {}: {}", in_quotes(name),
                                       !is_path                 ? "there is no such program on the PATH"
                                       : fs::is_directory(name) ? "it is a directory"
                                                                : last_error()));
}

fs::path find_next_to_bankcheck(std::string_view name) {
  const fs::path folder = fs::read_symlink("/proc/self/exe").parent_path();
  for (const fs::path& place : {folder, folder / ".." / BANKWISE_PLUGIN_DIRECTORY}) {
    if (fs::exists(place / name)) return fs::canonical(place / name);
  }
  return {};
}

Ended start_and_wait(const fs::path& program, const std::vector<std::string>& command, bool own_stdout,
                     const std::function<void(std::string_view)>& watch_stderr) {
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
  int error = posix_spawn(&child, program.c_str(), &actions, &attributes, arguments.data(), environ);
  if (error == ENOEXEC && !is_machine_code(program)) {  // a script without #!, which a shell runs, too
    std::string shell = "/bin/sh", script = program.string();
    arguments.front() = script.data();
    arguments.insert(arguments.begin(), shell.data());
    error = posix_spawn(&child, shell.c_str(), &actions, &attributes, arguments.data(), environ);
  }
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  close(pipe_ends[1]);
  Ended ended;
  if (error == 0) {
    SignalsToChild::set_child(child);
    ended = wait_for(child, pipe_ends[0], watch_stderr);
  }
  close(pipe_ends[0]);
  if (error != 0) {
    throw std::runtime_error(
        fmt::format("cannot run {}: {}", in_quotes(command.front()),
                    error == ENOEXEC ? "it is not an executable for this machine" : std::strerror(error)));
  }
  return ended;
}

bool crashed(const Ended& ended) {
  if (!WIFSIGNALED(ended.status)) return false;
  const int signal = WTERMSIG(ended.status);
  return signal != SIGKILL && signal != SIGINT && signal != SIGTERM && signal != SIGHUP;
}

std::optional<std::string> signal_that_ended(const std::string& program, const Ended& ended) {
  if (!WIFSIGNALED(ended.status)) return std::nullopt;
  const int signal = WTERMSIG(ended.status);
  return fmt::format("the program {} {} signal {} ({})", in_quotes(program),
                     crashed(ended) ? "crashed:" : "was ended by", signal, strsignal(signal));
}

}  // namespace bankwise::opencl
