#include "bankcheck/driver/child_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <stdexcept>

#include <bankwise/support/append.hpp>
#include <bankwise/support/text.hpp>

extern char** environ;  // NOLINT(readability-redundant-declaration): POSIX has it in no header

namespace bankwise::driver {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

std::string last_error() { return std::strerror(errno); }

constexpr auto grace_period = std::chrono::milliseconds(200);

volatile std::sig_atomic_t last = 0;
std::array<std::atomic<Clock::rep>, NSIG> arrived;  // when a signal arrived that has not been passed on; 0: none has
static_assert(std::atomic<Clock::rep>::is_always_lock_free);

void catch_signal(int signal, siginfo_t* info, void*) {
  last = signal;
  const bool by_key = info->si_code == SI_KERNEL;  // the terminal sends Ctrl-C and Ctrl-\ to the child, too
  Clock::rep none = 0;
  if (!by_key) arrived[std::size_t(signal)].compare_exchange_strong(none, Clock::now().time_since_epoch().count());
}

/// Passes signals that would end bankcheck to the child, so that bankcheck can report and clean up. One at a time may
/// exist.
class SignalsToChild : NotCopied {
 public:
  static constexpr std::array signals{SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGPIPE};

  SignalsToChild() {
    last = 0;
    for (auto& time : arrived) time = 0;
    for (std::size_t i = 0; i < signals.size(); ++i) {
      struct sigaction action {};
      sigemptyset(&action.sa_mask);
      if (signals[i] == SIGPIPE) {
        action.sa_handler = SIG_IGN;
      } else {
        action.sa_sigaction = catch_signal;
        action.sa_flags = SA_SIGINFO | SA_RESTART;
      }
      sigaction(signals[i], &action, &before_[i]);
    }
  }
  /// After a signal the rest of bankcheck, which reports and cleans up, ignores more of them: `timeout` sends two.
  ~SignalsToChild() {
    struct sigaction ignore {};
    ignore.sa_handler = SIG_IGN;
    for (std::size_t i = 0; i < signals.size(); ++i) {
      sigaction(signals[i], last == 0 ? &before_[i] : &ignore, nullptr);
    }
  }

  /// To be called several times a second: passes on what has arrived. Keys such as Ctrl-C, and `kill` on the
  /// process group, reach the child directly, and a program may count them: the child gets 0.2 seconds to end.
  void pass_on(pid_t child) {
    for (const int signal : signals) {
      auto& when = arrived[std::size_t(signal)];
      const Clock::rep then = when;
      if (then == 0 || Clock::now() < Clock::time_point(Clock::duration(then)) + grace_period) continue;
      when = 0;
      kill(child, signal);
    }
  }

  /// The last signal that arrived; 0: none.
  static int caught() { return last; }

 private:
  std::array<struct sigaction, signals.size()> before_{};
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
/// child. And makes orphans of the child bankcheck's children, so that it knows of programs that go on in the
/// background.
class Parenthood : NotCopied {
 public:
  Parenthood() : action_(std::signal(SIGCHLD, SIG_DFL)) {
    prctl(PR_GET_CHILD_SUBREAPER, &adopts_);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
  }
  ~Parenthood() {
    std::signal(SIGCHLD, action_);
    prctl(PR_SET_CHILD_SUBREAPER, adopts_);
  }

 private:
  void (*action_)(int);
  int adopts_ = 0;
};

std::vector<long> children() {
  std::vector<long> processes;
  std::ifstream list(fmt::format("/proc/self/task/{}/children", gettid()));
  for (long process = 0; list >> process;) {
    if (process != guard_process()) processes.push_back(process);
  }
  return processes;
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

/// Gives `take` what is in a pipe. False at its end.
bool take_from(int pipe, const std::function<void(std::string_view)>& take) {
  char buffer[4096];
  const ssize_t bytes = read(pipe, buffer, sizeof buffer);
  if (bytes > 0) take({buffer, std::size_t(bytes)});
  return bytes > 0 || (bytes < 0 && errno == EINTR);
}

/// Gives `take` what a child writes into a pipe until the child has ended: a process that it leaves in the background
/// may keep the pipe open much longer. Calls `turn`, if there is one, several times a second. Returns what waitpid()
/// says of the child; nothing if it says nothing.
std::optional<int> follow(pid_t child, int pipe, const std::function<void(std::string_view)>& take,
                          const std::function<void()>& turn) {
  int status = 0;
  for (bool running = true, open = true; running || open;) {
    pollfd ready{pipe, POLLIN, 0};
    const int events = poll(&ready, open ? 1 : 0, running && (open || turn) ? 50 : 0);
    open = events > 0 ? take_from(pipe, take) : open && running;
    if (!running) continue;
    if (turn) turn();
    const pid_t changed = waitpid(child, &status, open || turn ? WNOHANG : 0);
    if (changed == -1 && errno != EINTR) return std::nullopt;
    running = changed != child;
  }
  return status;
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
  /// In seconds, if there is a limit.
  std::optional<double> left() const {
    if (seconds_ <= 0) return std::nullopt;
    return std::max(0.0, seconds_ - std::chrono::duration<double>(Clock::now() - start_).count());
  }

 private:
  double seconds_;
  Clock::time_point start_ = Clock::now();
  int sent_ = 0;
};

Ended wait_for(pid_t child, int pipe, const Wait& wait, SignalsToChild& signals) {
  Ended ended{.process = child};
  TimeLimit limit(wait.time_limit);
  const Clock::time_point hint_at = Clock::now() + std::chrono::milliseconds(long(1000 * wait.hint_after));
  bool is_hinted = wait.hint.empty() || isatty(STDERR_FILENO) != 0;
  const auto copy_stderr = [&](std::string_view text) {
    if (wait.progress != nullptr) wait.progress->hide();
    (void)support::write_all(STDERR_FILENO, text);
    if (wait.watch_stderr) wait.watch_stderr(text);
  };
  const auto status = follow(child, pipe, copy_stderr, [&] {
    signals.pass_on(child);
    limit.enforce(child);
    if (wait.progress != nullptr) wait.progress->show(limit.left());
    if (is_hinted || Clock::now() <= hint_at) return;
    is_hinted = true;
    (void)support::write_all(STDERR_FILENO, fmt::format("bankcheck: {}\n", wait.hint));
  });
  if (!status) throw std::runtime_error("cannot wait for the program: " + last_error());
  ended.status = *status;
  if (wait.progress != nullptr) wait.progress->hide();
  ended.out_of_time = limit.reached();
  ended.interrupted = SignalsToChild::caught() != 0;
  ended.left_running = left_running();
  return ended;
}

/// A file of ours that becomes one of the program's.
struct Redirection {
  int ours, its;
};

/// This process's environment, with a folder for temporary files that is deleted even if bankcheck or a tool is killed.
std::vector<std::string> environment_of_tools() {
  static const TemporaryFolder folder;
  std::vector<std::string> variables{"TMPDIR=" + folder.path().string()};
  for (char** variable = environ; *variable != nullptr; ++variable) {
    if (!std::string_view(*variable).starts_with("TMPDIR=")) variables.emplace_back(*variable);
  }
  return variables;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

/// Starts a program, in a directory, or in bankcheck's own. If it is `quiet`, it is a tool that reads nothing, and
/// ignores the signals that bankcheck ignores, for example under nohup; otherwise signals are to it what they usually
/// are. Error: std::runtime_error.
pid_t spawn(const fs::path& program, const std::vector<std::string>& command,
            const std::vector<Redirection>& redirections, bool quiet, const fs::path& directory = {}) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (quiet) posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  for (const auto& [ours, its] : redirections) posix_spawn_file_actions_adddup2(&actions, ours, its);
  if (!directory.empty()) posix_spawn_file_actions_addchdir_np(&actions, directory.c_str());
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t as_usual;
  sigemptyset(&as_usual);
  for (const int signal : SignalsToChild::signals) sigaddset(&as_usual, signal);
  posix_spawnattr_setsigdefault(&attributes, &as_usual);
  posix_spawnattr_setflags(&attributes, quiet ? 0 : POSIX_SPAWN_SETSIGDEF);

  std::vector<std::string> words = command, variables;
  if (quiet) variables = environment_of_tools();
  const auto run = [&](const fs::path& file, pid_t& child) {
    return posix_spawn(&child, file.c_str(), &actions, &attributes, pointers_to(words).data(),
                       quiet ? pointers_to(variables).data() : environ);
  };
  pid_t child = 0;
  int error = run(program, child);
  if (error == ENOEXEC && !is_machine_code(program)) {  // a script without #!, which a shell runs, too
    words.front() = program.string();
    words.insert(words.begin(), "/bin/sh");
    error = run("/bin/sh", child);
  }
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error == 0) return child;
  throw std::runtime_error(
      fmt::format("cannot run {}: {}", support::in_quotes(command.front()),
                  error == ENOEXEC ? "it is not an executable for this machine" : std::strerror(error)));
}

}  // namespace

Pipe::Pipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("cannot create a pipe: " + last_error());
  out = ends[0];
  in = ends[1];
}

Pipe::~Pipe() {
  close_in();
  close(out);
}

void Pipe::close_in() {
  if (in >= 0) close(in);
  in = -1;
}

std::string Pipe::read_to_end() const {
  std::string text;
  char buffer[4096];
  for (ssize_t bytes = 0; (bytes = read(out, buffer, sizeof buffer)) > 0 || (bytes < 0 && errno == EINTR);) {
    if (bytes > 0) text.append(buffer, std::size_t(bytes));
  }
  return text;
}

Ended start_and_wait(const fs::path& program, const std::vector<std::string>& command, const Wait& wait) {
  Pipe pipe;
  std::vector<Redirection> redirections{{pipe.in, STDERR_FILENO}};
  if (!wait.own_stdout) redirections.insert(redirections.begin(), {STDERR_FILENO, STDOUT_FILENO});
  const int null = wait.silent ? open("/dev/null", O_RDWR | O_CLOEXEC) : -1;
  if (null >= 0) redirections = {{null, STDIN_FILENO}, {null, STDOUT_FILENO}, {null, STDERR_FILENO}};
  const int file =
      wait.stdout_file.empty() ? -1 : open(wait.stdout_file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (!wait.stdout_file.empty() && file < 0) throw std::runtime_error("cannot create a file: " + last_error());
  if (file >= 0) redirections.push_back({file, STDOUT_FILENO});
  const Parenthood parenthood;
  SignalsToChild signals;
  const pid_t child = spawn(program, command, redirections, false, wait.directory);
  const Guarded guarded(std::to_string(child));
  pipe.close_in();
  if (null >= 0) close(null);
  if (file >= 0) close(file);
  Ended ended = wait_for(child, pipe.out, wait, signals);
  ended.program = command.front();
  ended.time_limit = wait.time_limit;
  return ended;
}

Ran run_quietly(const std::vector<std::string>& command) {
  Pipe pipe;
  const pid_t child =
      spawn(find_program(command.front()), command, {{pipe.in, STDOUT_FILENO}, {pipe.in, STDERR_FILENO}}, true);
  const Guarded guarded(std::to_string(child));
  pipe.close_in();
  Ran ran;
  const int status = follow(child, pipe.out, [&](std::string_view text) { ran.output += text; }, {}).value_or(0);
  ran.status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  return ran;
}

std::string hint_to_watch_less(std::uint64_t max_groups, std::string_view blocks) {
  if (max_groups > 0) return "";
  return fmt::format("the program is still running; --max-groups 2 watches 2 {} of each launch and takes less time",
                     blocks);
}

bool ended_from_outside(const Ended& ended) {
  if (!WIFSIGNALED(ended.status)) return false;
  const int signal = WTERMSIG(ended.status);
  return signal == SIGKILL || signal == SIGINT || signal == SIGQUIT || signal == SIGTERM || signal == SIGHUP;
}

bool crashed(const Ended& ended) { return WIFSIGNALED(ended.status) && !ended_from_outside(ended); }

std::optional<std::string> signal_that_ended(const Ended& ended) {
  if (!WIFSIGNALED(ended.status)) return std::nullopt;
  const int signal = WTERMSIG(ended.status);
  return fmt::format("the program {} {} signal {} ({})", support::in_quotes(ended.program),
                     crashed(ended) ? "crashed:" : "was ended by", signal, strsignal(signal));
}

std::string failed_with(const Ended& ended, int exit_code) {
  return fmt::format("the program {} failed with exit code {}", support::in_quotes(ended.program), exit_code);
}

std::optional<std::string> failure_of(const Ended& ended) {
  if (ended.out_of_time) {
    return fmt::format("the program {} had not ended after {:g} seconds", support::in_quotes(ended.program),
                       ended.time_limit);
  }
  if (auto signal = signal_that_ended(ended)) return signal;
  if (const int code = WEXITSTATUS(ended.status); code != 0) return failed_with(ended, code);
  return std::nullopt;
}

}  // namespace bankwise::driver
