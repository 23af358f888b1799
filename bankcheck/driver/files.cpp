#include "bankcheck/driver/child_process.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <set>
#include <stdexcept>
#include <system_error>
#include <utility>
#include <vector>

#include <bankwise/support/exit_code.hpp>
#include <bankwise/support/files.hpp>
#include <bankwise/support/table.hpp>
#include <bankwise/support/text.hpp>
#include <bankwise/support/watch_request.hpp>

extern char** environ;  // NOLINT(readability-redundant-declaration): POSIX has it in no header

namespace bankwise::driver {
namespace {

namespace fs = std::filesystem;

/// TMPDIR, or /tmp if that is empty; an absolute path, because the program may change its directory.
fs::path temporary_folder() {
  const char* variable = std::getenv("TMPDIR");
  const std::string name = variable == nullptr || *variable == '\0' ? "/tmp" : variable;
  std::error_code error;
  fs::path folder = fs::canonical(name, error);
  if (error || !fs::is_directory(folder, error)) {
    throw std::runtime_error(fmt::format("cannot use {}, from TMPDIR, for temporary files", support::in_quotes(name)));
  }
  return folder;
}

/// A process that is stopped starts no other while its children are looked for. Adds all of them to `killed`.
void end_with_children(long process, std::vector<long>& killed) {  // NOLINT(misc-no-recursion): as deep as processes
  if (kill(pid_t(process), SIGSTOP) != 0) return;
  std::error_code ignored;
  for (const auto& thread : fs::directory_iterator(fmt::format("/proc/{}/task", process), ignored)) {
    std::ifstream children(thread.path() / "children");
    for (long child = 0; children >> child;) end_with_children(child, killed);
  }
  kill(pid_t(process), SIGKILL);
  killed.push_back(process);
}

std::string file_of_process(long process, const char* name) {
  return support::read_file(fmt::format("/proc/{}/{}", process, name)).value_or("");
}

/// The processes whose environment has one of the names: bankcheck may have started a program and been killed before
/// it could tell.
std::vector<long> processes_with(const std::set<std::string>& names) {
  std::vector<long> processes;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator("/proc", ignored)) {
    const long process = std::strtol(entry.path().filename().c_str(), nullptr, 10);
    if (process <= 0 || process == getpid()) continue;
    const std::string environment = file_of_process(process, "environ");
    const bool is_ours = std::any_of(names.begin(), names.end(), [&](const std::string& name) {
      return name.front() == '/' && environment.find(name) != std::string::npos;
    });
    if (is_ours) processes.push_back(process);
  }
  return processes;
}

/// Waits until killed processes are no more: they may still be in a system call that makes a file.
void wait_for_end(std::vector<long> killed) {
  const auto is_gone = [](long process) {
    const std::string stat = file_of_process(process, "stat");  // "7 (name) S ..."
    const auto name_end = stat.rfind(") ");
    return name_end == std::string::npos || stat[name_end + 2] == 'Z' || stat[name_end + 2] == 'X';
  };
  for (int i = 0; i < 2000 && !killed.empty(); ++i) {
    std::erase_if(killed, is_gone);
    if (!killed.empty()) usleep(1000);
  }
}

/// Hears names from a socket until bankcheck, which alone has its other end, is no more.
[[noreturn]] void stand_guard(int socket) {
  setsid();
  prctl(PR_SET_NAME, "bw-guard");  // not for `killall bankcheck`
  for (const int signal : {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGPIPE}) std::signal(signal, SIG_IGN);
  dup2(socket, 0);
  close_range(1, ~0U, 0);  // whoever reads bankcheck's output to its end would wait for the guard, too
  std::set<std::string> names;
  char message[PATH_MAX];
  for (ssize_t bytes = 0; (bytes = recv(0, message, sizeof message, 0)) > 0 || (bytes < 0 && errno == EINTR);) {
    if (bytes < 2) continue;
    std::string name(message + 1, std::size_t(bytes - 1));
    if (*message == '+') {
      names.insert(std::move(name));
    } else {
      names.erase(name);
    }
  }
  std::vector<long> killed;
  for (const std::string& name : names) {
    if (name.front() != '/') end_with_children(std::strtol(name.c_str(), nullptr, 10), killed);
  }
  // A process that is about to become another program has no environment for a moment.
  constexpr int most_rounds = 10;
  for (int round = 0, without = 0; !names.empty() && without < 2 && round < most_rounds; ++round) {
    const std::vector<long> processes = processes_with(names);
    for (const long process : processes) end_with_children(process, killed);
    without = processes.empty() ? without + 1 : 0;
    wait_for_end(std::exchange(killed, {}));
    usleep(5000);
  }
  std::error_code ignored;
  for (const std::string& name : names) {
    if (name.front() == '/') fs::remove_all(name, ignored);
  }
  _exit(0);
}

struct Guard : NotCopied {
  Guard() {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return;
    process = fork();
    if (process == 0) {
      close(ends[1]);
      stand_guard(ends[0]);
    }
    close(ends[0]);
    socket = ends[1];
  }
  ~Guard() {
    close(socket);
    while (process > 0 && waitpid(process, nullptr, 0) < 0 && errno == EINTR) continue;
  }
  void tell(char change, const std::string& name) const {
    const std::string message = change + name;
    if (socket >= 0) (void)send(socket, message.data(), message.size(), MSG_NOSIGNAL);
  }

  int socket = -1;
  pid_t process = 0;
};

Guard& guard() {
  static Guard guard;
  return guard;
}

struct Ending {
  int signal;
  std::string sentence;
  struct sigaction before {};
};
std::array<Ending, 4> endings{{{SIGINT, {}}, {SIGQUIT, {}}, {SIGTERM, {}}, {SIGHUP, {}}}};

void end_with_sentence(int signal) {
  for (const Ending& ending : endings) {
    if (ending.signal == signal) (void)!write(STDERR_FILENO, ending.sentence.data(), ending.sentence.size());
  }
  _exit(support::exit_device);
}

constexpr auto between_updates = std::chrono::milliseconds(500);
constexpr std::string_view erase_line = "\r\33[K";

void put(const std::string& text) {
  std::fputs(text.c_str(), stderr);
  std::fflush(stderr);
}

}  // namespace

void start_guard() { guard(); }

long guard_process() { return guard().process; }

Guarded::Guarded(std::string name) : name_(std::move(name)) { guard().tell('+', name_); }

Guarded::~Guarded() { guard().tell('-', name_); }

EndsWithSentence::EndsWithSentence(std::string_view activity) {
  for (Ending& ending : endings) {
    ending.sentence = fmt::format("bankcheck: signal {} ({}) ended it while it was {}\n", ending.signal,
                                  strsignal(ending.signal), activity);
    struct sigaction action {};
    action.sa_handler = end_with_sentence;
    sigaction(ending.signal, nullptr, &ending.before);
    if (ending.before.sa_handler != SIG_IGN)
      sigaction(ending.signal, &action, nullptr);  // ignored by nohup, for example
  }
}

EndsWithSentence::~EndsWithSentence() {
  for (const Ending& ending : endings) sigaction(ending.signal, &ending.before, nullptr);
}

TemporaryFolder::TemporaryFolder() : TemporaryFolder(temporary_folder()) {}

TemporaryFolder::TemporaryFolder(const fs::path& parent) {
  std::string path = parent / "bankcheck.XXXXXX";
  if (mkdtemp(path.data()) == nullptr)
    throw std::runtime_error(fmt::format("cannot create {}: {}", path, std::strerror(errno)));
  path_ = path;
  guarded_.emplace(path);
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
  std::error_code ignored;
  const bool is_path = name.find('/') != std::string::npos;
  throw std::runtime_error(fmt::format("cannot run {}: {}", support::in_quotes(name),
                                       !is_path                          ? "there is no such program on the PATH"
                                       : fs::is_directory(name, ignored) ? "it is a directory"
                                                                         : std::strerror(errno)));
}

fs::path folder_of_bankcheck() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (error)
    throw std::runtime_error("bankcheck cannot find its own files: no /proc/self/exe (" + error.message() + ")");
  return program.parent_path();
}

fs::path find_next_to_bankcheck(std::string_view name) {
  const fs::path folder = folder_of_bankcheck();
  for (const fs::path& place : {folder, folder / ".." / BANKWISE_PLUGIN_DIRECTORY}) {
    if (fs::exists(place / name)) return fs::canonical(place / name);
  }
  return {};
}

KeptEnvironment::KeptEnvironment() {
  for (char** variable = environ; *variable != nullptr; ++variable) variables_.emplace_back(*variable);
}

KeptEnvironment::~KeptEnvironment() {
  clearenv();
  for (const std::string& variable : variables_) {
    const auto end = variable.find('=', 1);
    if (end != std::string::npos) setenv(variable.substr(0, end).c_str(), variable.c_str() + end + 1, 1);
  }
}

Progress::Progress(const fs::path& path, std::string blocks)
    : blocks_(std::move(blocks)),
      is_shown_(isatty(STDERR_FILENO) != 0),
      next_(std::chrono::steady_clock::now() + between_updates) {
  std::ofstream(path, std::ios::binary) << std::string(sizeof(support::RunProgress), '\0');
  progress_ = support::map_progress(path.c_str());
  if (progress_ != nullptr && is_shown_) setenv(support::progress_variable, path.c_str(), 1);
}

Progress::~Progress() {
  hide();
  if (progress_ != nullptr) munmap(progress_, sizeof(support::RunProgress));
}

std::string Progress::text(std::optional<double> left) const {
  if (progress_ == nullptr) return "";
  const std::uint64_t groups = progress_->groups, done = progress_->done;
  if (done >= groups) return "";
  std::string kernel(progress_->kernel, sizeof progress_->kernel);  // the program may write anything into it
  kernel.erase(std::min(kernel.find('\0'), kernel.size()));
  for (char& c : kernel) c = c < ' ' || c > '~' ? '?' : c;
  return fmt::format("bankcheck: {}, launch {}: {} of {} {}{}", kernel, progress_->launches.load(), done, groups,
                     blocks_, left ? fmt::format(", {:.0f} s left", *left) : "");
}

void Progress::show(std::optional<double> left) {
  const auto now = std::chrono::steady_clock::now();
  if (!is_shown_ || now < next_) return;
  next_ = now + between_updates;
  const std::string line = text(left).substr(0, support::terminal_columns() - 1);
  if (line == shown_) return;
  put(fmt::format("{}{}\r", erase_line, line));
  shown_ = line;
}

void Progress::hide() {
  if (!shown_.empty()) put(std::string(erase_line));
  shown_.clear();
}

}  // namespace bankwise::driver
