// SPDX-License-Identifier: MIT
#include "bankcheck/driver/guard.hpp"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <system_error>
#include <utility>

#include <bankwise/support/exit_code.hpp>

namespace bankwise::driver {
namespace {

namespace fs = std::filesystem;

/// A process that is stopped starts no other while its children are looked for.
void end_with_children(long process) {  // NOLINT(misc-no-recursion): as deep as processes are nested
  if (kill(pid_t(process), SIGSTOP) != 0) return;
  std::error_code ignored;
  for (const auto& thread : fs::directory_iterator(fmt::format("/proc/{}/task", process), ignored)) {
    std::ifstream children(thread.path() / "children");
    for (long child = 0; children >> child;) end_with_children(child);
  }
  kill(pid_t(process), SIGKILL);
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
  for (const std::string& name : names) {
    if (name.front() != '/') end_with_children(std::strtol(name.c_str(), nullptr, 10));
  }
  std::error_code ignored;
  for (const std::string& name : names) {
    if (name.front() == '/') fs::remove_all(name, ignored);
  }
  _exit(0);
}

struct Guard {
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
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;
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
  _exit(exit_device);
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

}  // namespace bankwise::driver
