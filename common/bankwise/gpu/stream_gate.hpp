// Holds a stream back until everything is enqueued, so a time between two events includes no launch overhead.
//
// The device waits for a word in memory that it shares with the host (cuStreamWaitValue32, see cuda_session.cpp). We
// prefer that to a kernel that spins on the word, as nvbench has it: no kernel occupies a multiprocessor or draws power
// during the wait, and the host, whose call may block, enforces the deadline. A device that cannot wait for a word is
// measured without a gate.
//
// Nothing here needs a GPU: the rules for opening are tested without one.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

namespace bankwise::gpu {

/// When a gate opens without a call of open().
struct GateLimits {
  /// A call that waits for the device would wait forever: a synchronizing library, or a module that is loaded lazily.
  std::chrono::milliseconds deadline{500};
  /// A queue holds 1024 launches (CUDA Programming Guide); the call that adds one more waits for space.
  unsigned max_commands = 512;
};

/// The host's side of the wait. The device may continue as soon as *word - close() is not negative, as 32-bit integers.
class StreamGate {
 public:
  /// `word` must outlive the gate.
  explicit StreamGate(std::uint32_t& word, GateLimits limits = {});
  ~StreamGate();  // opens
  StreamGate(const StreamGate&) = delete;
  StreamGate& operator=(const StreamGate&) = delete;

  /// Closes the gate and starts the deadline. Returns the value to wait for.
  std::uint32_t close();
  /// Reports commands that were enqueued; the gate opens before their queue is full.
  void count(unsigned commands = 1);
  /// Lets the device continue. Returns one sentence if it could already continue earlier; empty if not.
  std::string open();

 private:
  using Clock = std::chrono::steady_clock;

  void open_early(std::string why);
  void watch();

  std::uint32_t& word_;
  const GateLimits limits_;
  std::mutex mutex_;  // guards all members below
  std::condition_variable ending_;
  bool ends_ = false, closed_ = false;
  std::uint32_t ticket_;
  unsigned commands_ = 0;
  Clock::time_point deadline_;
  std::string why_early_;
  std::thread watchdog_;  // started by the first close()
};

}  // namespace bankwise::gpu
