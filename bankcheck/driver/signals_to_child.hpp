// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <array>
#include <csignal>

namespace bankwise::driver {

/// Passes signals that would end bankcheck to the child, so that bankcheck can report and clean up. One at a time may
/// exist.
class SignalsToChild {
 public:
  static constexpr std::array signals{SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGPIPE};

  SignalsToChild();
  SignalsToChild(const SignalsToChild&) = delete;
  SignalsToChild& operator=(const SignalsToChild&) = delete;
  /// After a signal the rest of bankcheck, which reports and cleans up, ignores more of them: `timeout` sends two.
  ~SignalsToChild();

  /// To be called several times a second: passes on what has arrived. Keys such as Ctrl-C, and `kill` on the
  /// process group, reach the child directly, and a program may count them: the child gets 0.2 seconds to end.
  void pass_on(pid_t child);

  /// The last signal that arrived; 0: none.
  static int caught();

 private:
  std::array<struct sigaction, signals.size()> before_{};
};

}  // namespace bankwise::driver
