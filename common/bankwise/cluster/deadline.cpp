#include <bankwise/cluster/communicator.hpp>

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
#include <utility>

#include <bankwise/support/exit_code.hpp>

namespace bankwise::cluster {

struct TimedWait {
  std::string sentence;
  std::optional<std::chrono::steady_clock::time_point> end;  // empty: the process waits for nothing
};

namespace {

using Clock = std::chrono::steady_clock;

/// One thread for all deadlines: most waits last microseconds, and starting a thread takes longer.
class Watchdog {
 public:
  Watchdog() : limit_s_(deadline_s()), thread_([this](const std::stop_token& stop) { watch(stop); }) {}

  /// Returns the wait that the new one interrupts.
  TimedWait begin(std::string sentence) {
    const auto limit = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(limit_s_));
    return replace({std::move(sentence), Clock::now() + limit});
  }
  TimedWait replace(TimedWait wait) {
    const std::lock_guard lock(mutex_);
    changed_.notify_one();
    return std::exchange(wait_, std::move(wait));
  }

 private:
  void watch(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (!stop.stop_requested()) {
      if (!wait_.end) {
        changed_.wait(lock, stop, [&] { return wait_.end.has_value(); });
        continue;
      }
      const Clock::time_point until = *wait_.end;
      changed_.wait_until(lock, stop, until, [&] { return wait_.end != until; });
      if (wait_.end != until || Clock::now() < until) continue;
      std::fputs(fmt::format("{} after {} s; another rank has failed or is too slow (BANKWISE_DEADLINE_S)\n",
                             wait_.sentence, limit_s_)
                     .c_str(),
                 stderr);
      _exit(support::exit_device);
    }
  }

  const double limit_s_;
  std::mutex mutex_;  // guards the members below
  std::condition_variable_any changed_;
  TimedWait wait_;
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
    throw support::UsageError(fmt::format("BANKWISE_DEADLINE_S is '{}', not a number of seconds", text));
  }
  return seconds;
}

Deadline::Deadline(const std::string& who, const std::string& operation)
    : interrupted_(
          std::make_unique<TimedWait>(watchdog().begin(fmt::format("{}: gave up waiting in {}", who, operation)))) {}

Deadline::~Deadline() { watchdog().replace(std::move(*interrupted_)); }

}  // namespace bankwise::cluster
