// A program that runs while the test does something else.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <string>
#include <thread>

#include "tests/catch_any.hpp"
#include "tests/programs.hpp"

/// Starts a shell command in its own process group, as an interactive shell does.
class StartedProgram {
 public:
  explicit StartedProgram(const std::string& command) {
    const std::string line =
        command + " >" + (scratch_.path() / "out").string() + " 2>" + (scratch_.path() / "err").string();
    process_ = fork();
    if (process_ == 0) {
      setpgid(0, 0);
      std::signal(SIGINT, SIG_DFL);
      execl("/bin/sh", "sh", "-c", line.c_str(), static_cast<char*>(nullptr));
      _exit(127);
    }
    REQUIRE(process_ > 0);
    setpgid(process_, process_);
  }
  StartedProgram(const StartedProgram&) = delete;
  StartedProgram& operator=(const StartedProgram&) = delete;

  pid_t process() const { return process_; }
  std::string out() const { return text_of(scratch_.path() / "out"); }
  std::string err() const { return text_of(scratch_.path() / "err"); }

  /// Fails after 30 seconds.
  template <class Condition>
  void wait_until(Condition holds) {
    for (int i = 0; i < 3000 && !holds(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    REQUIRE(holds());
  }

  bool runs() {
    if (!ended_) ended_ = waitpid(process_, &status_, WNOHANG) == process_;
    return !ended_;
  }

  /// Waits for the end; -1 if a signal ended the program.
  int exit_code() {
    if (runs()) REQUIRE(waitpid(process_, &status_, 0) == process_);
    ended_ = true;
    return WIFEXITED(status_) ? WEXITSTATUS(status_) : -1;
  }

 private:
  ScratchDirectory scratch_;
  pid_t process_ = 0;
  bool ended_ = false;
  int status_ = 0;
};
