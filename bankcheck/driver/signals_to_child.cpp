// SPDX-License-Identifier: MIT
#include "bankcheck/driver/signals_to_child.hpp"

#include <atomic>
#include <chrono>

namespace bankwise::driver {
namespace {

using Clock = std::chrono::steady_clock;

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

}  // namespace

SignalsToChild::SignalsToChild() {
  last = 0;
  for (auto& one : arrived) one = 0;
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

SignalsToChild::~SignalsToChild() {
  struct sigaction ignore {};
  ignore.sa_handler = SIG_IGN;
  for (std::size_t i = 0; i < signals.size(); ++i) {
    sigaction(signals[i], last == 0 ? &before_[i] : &ignore, nullptr);
  }
}

void SignalsToChild::pass_on(pid_t child) {
  for (const int signal : signals) {
    auto& when = arrived[std::size_t(signal)];
    const Clock::rep then = when;
    if (then == 0 || Clock::now() < Clock::time_point(Clock::duration(then)) + grace_period) continue;
    when = 0;
    kill(child, signal);
  }
}

int SignalsToChild::caught() {
  return last;
}

}  // namespace bankwise::driver
