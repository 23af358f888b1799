// Kills a program at random moments. Whatever it was doing, it leaves nothing behind, and its next run is right.
#pragma once

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <thread>

#include "tests/bankcheck/started_program.hpp"

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
