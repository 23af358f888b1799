// SPDX-License-Identifier: MIT
#include <bankwise/cluster/deadline.hpp>

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <thread>

#include <bankwise/support/exit_code.hpp>

namespace bankwise::cluster {
namespace {

using Clock = std::chrono::steady_clock;

/// One thread for all deadlines: most waits last microseconds, and starting a thread takes longer.
class Watchdog {
 public:
  Watchdog() : limit_s_(deadline_s()), thread_([this](const std::stop_token& stop) { watch(stop); }) {}

  void begin(std::string sentence) {
    const std::lock_guard lock(mutex_);
    sentence_ = std::move(sentence);
    end_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(limit_s_));
    changed_.notify_one();
  }
  void end() {
    const std::lock_guard lock(mutex_);
    end_.reset();
  }

 private:
  void watch(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (!stop.stop_requested()) {
      if (!end_) {
        changed_.wait(lock, stop, [&] { return end_.has_value(); });
        continue;
      }
      const Clock::time_point until = *end_;
      changed_.wait_until(lock, stop, until, [&] { return end_ != until; });
      if (end_ != until || Clock::now() < until) continue;
      std::fputs(fmt::format("{} after {} s; another rank has failed or is too slow (BANKWISE_DEADLINE_S)\n", sentence_,
                             limit_s_)
                     .c_str(),
                 stderr);
      _exit(exit_device);
    }
  }

  const double limit_s_;
  std::mutex mutex_;  // guards the members below
  std::condition_variable_any changed_;
  std::string sentence_;
  std::optional<Clock::time_point> end_;
  std::jthread thread_;  // last: it uses the members above
};

Watchdog& watchdog() {
  static Watchdog shared;
  return shared;
}

}  // namespace

double deadline_s() {
  const char* const text = std::getenv("BANKWISE_DEADLINE_S");
  if (text == nullptr) return 120;
  char* end = nullptr;
  const double seconds = std::strtod(text, &end);
  if (end == text || *end != 0 || !std::isfinite(seconds) || seconds <= 0 || seconds > 1e6) {
    throw UsageError(fmt::format("BANKWISE_DEADLINE_S is '{}', not a number of seconds", text));
  }
  return seconds;
}

Deadline::Deadline(std::string who, std::string what) {
  watchdog().begin(fmt::format("{}: gave up waiting in {}", who, what));
}

Deadline::~Deadline() {
  watchdog().end();
}

}  // namespace bankwise::cluster
