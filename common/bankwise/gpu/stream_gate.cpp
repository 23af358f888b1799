#include <bankwise/gpu/stream_gate.hpp>

#include <fmt/format.h>

#include <atomic>
#include <utility>

namespace bankwise::gpu {

StreamGate::StreamGate(std::uint32_t& word, GateLimits limits) : word_(word), limits_(limits), ticket_(word) {}

StreamGate::~StreamGate() {
  {
    const std::lock_guard lock(mutex_);
    open_early({});
    ends_ = true;
  }
  ending_.notify_one();
  if (watchdog_.joinable()) watchdog_.join();
}

std::uint32_t StreamGate::close() {
  const std::lock_guard lock(mutex_);
  open_early({});  // for the previous user of the word
  if (!watchdog_.joinable()) watchdog_ = std::thread([this] { watch(); });
  closed_ = true;
  commands_ = 0;
  why_early_.clear();
  deadline_ = Clock::now() + limits_.deadline;
  return ++ticket_;
}

void StreamGate::count(unsigned commands) {
  const std::lock_guard lock(mutex_);
  commands_ += commands;
  if (closed_ && commands_ >= limits_.max_commands) {
    open_early(fmt::format("it enqueues more than the {} commands that are held back at most", limits_.max_commands));
  }
}

std::string StreamGate::open() {
  const std::lock_guard lock(mutex_);
  open_early({});
  return std::exchange(why_early_, {});
}

/// The caller holds the mutex.
void StreamGate::open_early(std::string why) {
  if (!closed_) return;
  closed_ = false;
  why_early_ = std::move(why);
  std::atomic_ref(word_).store(ticket_, std::memory_order_release);
}

/// Polls now and then. Waking for each sample would disturb the thread that enqueues.
void StreamGate::watch() {
  std::unique_lock lock(mutex_);
  while (!ending_.wait_for(lock, limits_.deadline / 8, [&] { return ends_; })) {
    if (!closed_ || Clock::now() < deadline_) continue;
    open_early(fmt::format("enqueueing it takes more than {} ms, most likely because it waits for the device",
                           limits_.deadline.count()));
  }
}

}  // namespace bankwise::gpu
