// SPDX-License-Identifier: MIT
#include "bankcheck/driver/child_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <system_error>

#include <bankwise/support/in_quotes.hpp>
#include "bankcheck/driver/signals_to_child.hpp"

extern char** environ;  // NOLINT(readability-redundant-declaration): POSIX has it in no header

namespace bankwise::driver {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

std::string last_error() {
  return std::strerror(errno);
}

/// TMPDIR, or /tmp if that is empty; an absolute path, because the program may change its directory.
std::string temporary_folder() {
  const char* variable = std::getenv("TMPDIR");
  const std::string name = variable == nullptr || *variable == '\0' ? "/tmp" : variable;
  std::error_code error;
  const fs::path folder = fs::canonical(name, error);
  if (error || !fs::is_directory(folder, error)) {
    throw std::runtime_error(fmt::format("cannot use {}, from TMPDIR, for temporary files", in_quotes(name)));
  }
  return (folder / "bankcheck.XXXXXX").string();
}

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

/// Makes orphans of the child bankcheck's children, so that bankcheck knows of programs that go on in the background.
class AdoptsOrphans {
 public:
  AdoptsOrphans() {
    prctl(PR_GET_CHILD_SUBREAPER, &before_);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
  }
  AdoptsOrphans(const AdoptsOrphans&) = delete;
  AdoptsOrphans& operator=(const AdoptsOrphans&) = delete;
  ~AdoptsOrphans() { prctl(PR_SET_CHILD_SUBREAPER, before_); }

 private:
  int before_ = 0;
};

std::vector<long> children() {
  std::vector<long> all;
  std::ifstream list(fmt::format("/proc/self/task/{}/children", gettid()));
  for (long one = 0; list >> one;) all.push_back(one);
  return all;
}

/// The processes that the child has left behind and that do not end within half a second.
std::vector<long> left_running() {
  const auto end = Clock::now() + std::chrono::milliseconds(500);
  for (;;) {
    while (waitpid(-1, nullptr, WNOHANG) > 0) {
    }
    std::vector<long> running = children();
    if (running.empty() || Clock::now() > end) return running;
    usleep(10000);
  }
}

/// Copies what the child has written to its stderr to ours, and shows it to `watch`. False at its end.
bool copy_stderr(int pipe, const std::function<void(std::string_view)>& watch) {
  char buffer[4096];
  const ssize_t bytes = read(pipe, buffer, sizeof buffer);
  for (ssize_t done = 0; done < bytes;) {
    const ssize_t wrote = write(STDERR_FILENO, buffer + done, std::size_t(bytes - done));
    if (wrote <= 0) break;
    done += wrote;
  }
  if (bytes > 0 && watch) watch({buffer, std::size_t(bytes)});
  return bytes > 0;
}

/// Ends a child that has run longer than its time: politely, and after five more seconds for certain.
class TimeLimit {
 public:
  explicit TimeLimit(double seconds) : seconds_(seconds) {}

  /// To be called several times a second.
  void enforce(pid_t child) {
    if (seconds_ <= 0 || sent_ == 2) return;
    const double passed = std::chrono::duration<double>(Clock::now() - start_).count();
    if (passed < seconds_ + (sent_ == 0 ? 0 : 5)) return;
    kill(child, sent_ == 0 ? SIGTERM : SIGKILL);
    ++sent_;
  }
  bool reached() const { return sent_ > 0; }

 private:
  double seconds_;
  Clock::time_point start_ = Clock::now();
  int sent_ = 0;
};

/// A child of the child may keep the pipe open much longer than the child runs.
Ended wait_for(pid_t child, int pipe, const Wait& wait, SignalsToChild& signals) {
  Ended ended{.process = child};
  TimeLimit limit(wait.time_limit);
  for (bool running = true, open = true; running || open;) {
    pollfd ready{pipe, POLLIN, 0};
    const int events = poll(&ready, open ? 1 : 0, running ? 50 : 0);
    if (events > 0) {
      if (wait.progress != nullptr) wait.progress->hide();
      open = copy_stderr(pipe, wait.watch_stderr);
    } else if (!running) {
      open = false;
    }
    if (!running) continue;
    signals.pass_on(child);
    limit.enforce(child);
    if (wait.progress != nullptr) wait.progress->show();
    const pid_t changed = waitpid(child, &ended.status, WNOHANG);
    if (changed == -1 && errno != EINTR) throw std::runtime_error("cannot wait for the program: " + last_error());
    running = changed != child;
  }
  if (wait.progress != nullptr) wait.progress->hide();
  ended.out_of_time = limit.reached();
  ended.interrupted = SignalsToChild::caught() != 0;
  ended.left_running = left_running();
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
    if (fs::path candidate = (folder.empty() ? "." : folder) / name; runs(candidate)) return candidate;
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

std::vector<char*> argument_vector(const std::vector<std::string>& command) {
  std::vector<char*> arguments;
  arguments.reserve(command.size() + 1);
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast): execv() and posix_spawn() do not write, but lack the const
  for (const std::string& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  return arguments;
}

Ended start_and_wait(const fs::path& program, const std::vector<std::string>& command, const Wait& wait) {
  int pipe_ends[2];
  if (pipe2(pipe_ends, O_CLOEXEC) != 0) throw std::runtime_error("cannot create a pipe: " + last_error());
  std::vector<char*> arguments = argument_vector(command);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (!wait.own_stdout) posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], STDERR_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t as_usual;
  sigemptyset(&as_usual);
  for (const int signal : SignalsToChild::signals) sigaddset(&as_usual, signal);
  posix_spawnattr_setsigdefault(&attributes, &as_usual);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);

  const KeepsExitCodes keeps_exit_codes;
  const AdoptsOrphans adopts_orphans;
  SignalsToChild signals;
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
    ended = wait_for(child, pipe_ends[0], wait, signals);
  }
  close(pipe_ends[0]);
  if (error != 0) {
    throw std::runtime_error(
        fmt::format("cannot run {}: {}", in_quotes(command.front()),
                    error == ENOEXEC ? "it is not an executable for this machine" : std::strerror(error)));
  }
  return ended;
}

bool ended_from_outside(const Ended& ended) {
  if (!WIFSIGNALED(ended.status)) return false;
  constexpr std::array from_outside{SIGKILL, SIGINT, SIGQUIT, SIGTERM, SIGHUP};
  return std::find(from_outside.begin(), from_outside.end(), WTERMSIG(ended.status)) != from_outside.end();
}

bool crashed(const Ended& ended) {
  return WIFSIGNALED(ended.status) && !ended_from_outside(ended);
}

std::optional<std::string> signal_that_ended(const std::string& program, const Ended& ended) {
  if (!WIFSIGNALED(ended.status)) return std::nullopt;
  const int signal = WTERMSIG(ended.status);
  return fmt::format("the program {} {} signal {} ({})", in_quotes(program),
                     crashed(ended) ? "crashed:" : "was ended by", signal, strsignal(signal));
}

std::string out_of_time(const std::string& program, double seconds) {
  return fmt::format("the program {} had not ended after {:g} seconds", in_quotes(program), seconds);
}

std::optional<std::string> still_running(const std::string& program, const Ended& ended) {
  if (ended.left_running.empty()) return std::nullopt;
  const std::size_t others = ended.left_running.size() - 1;
  return fmt::format(
      "the program {} left process {}{} running in the background: what it does from now on is not in the report",
      in_quotes(program), ended.left_running.front(), others == 0 ? "" : fmt::format(" and {} more", others));
}

bool has_loaded(long process, std::string_view library) {
  std::ifstream maps(fmt::format("/proc/{}/maps", process));
  for (std::string line; std::getline(maps, line);) {
    if (line.ends_with(library)) return true;
  }
  return false;
}

}  // namespace bankwise::driver
