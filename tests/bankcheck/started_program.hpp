// Programs that run while the test does something else, or that it kills at random moments.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <random>
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
    bool held = holds();  // it may hold for a moment only
    for (int i = 0; i < 3000 && !held; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      held = holds();
    }
    REQUIRE(held);
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

/// The number of processes with this in their environment.
inline std::ptrdiff_t processes_with(const std::string& variable) {
  const std::filesystem::directory_iterator processes("/proc");
  return std::count_if(begin(processes), end(processes), [&](const auto& process) {
    return text_of(process.path() / "environ").find(variable) != std::string::npos;
  });
}

/// Calls `run_rightly(i)`, which runs a program undisturbed and checks what it says, and starts `command(i)`, the same
/// run as a command of the shell, to kill it: twenty times, at moments that are spread over the time of the first run.
/// All its files are below `folder`, and TMPDIR is tmp there.
template <class Command, class RunRightly>
void kill_at_random_moments(const std::filesystem::path& folder, Command command, RunRightly run_rightly) {
  namespace fs = std::filesystem;
  using Clock = std::chrono::steady_clock;
  constexpr unsigned moments = 20, seed = 20261124;
  fs::create_directories(folder / "tmp");
  const std::string variable = "TMPDIR=" + (folder / "tmp").string();
  const auto begin = Clock::now();
  run_rightly(moments);
  const std::chrono::duration<double> whole_run = Clock::now() - begin;

  std::mt19937 random(seed);
  for (unsigned i = 0; i < moments; ++i) {
    const auto moment = whole_run * ((i + std::uniform_real_distribution(0.0, 1.0)(random)) / moments);
    INFO("seed " << seed << ", moment " << i << ": after " << moment.count() << " of " << whole_run.count() << " s");
    StartedProgram started(variable + " exec " + command(i));
    std::this_thread::sleep_for(moment);
    CHECK(kill(started.process(), SIGKILL) == 0);
    started.exit_code();
    started.wait_until([&] { return fs::is_empty(folder / "tmp") && processes_with(variable) == 0; });
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
      const fs::path path = entry.path();
      INFO(path);
      for (const char* temporary : {"bankcheck.", ".bankwise."})
        CHECK(!path.filename().string().starts_with(temporary));
      if (path.extension() == ".json") CHECK(nlohmann::json::accept(text_of(path)));
    }
    run_rightly(i);
  }
}
