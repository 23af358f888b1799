// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

namespace CLI {
class App;
}

namespace bankwise::driver {

/// What the checkers that run a program have in common.
struct WatchOptions {
  std::string trace;
  std::uint64_t max_launches = 0, max_groups = 0;  ///< 0: all
  double time_limit = 0;                           ///< seconds; 0: none
};

/// Adds --trace, --max-launches, --max-groups and --time-limit to a command. `blocks`: the word for them.
void declare_watch_options(CLI::App& command, WatchOptions& options, const std::string& blocks);

/// Error: UsageError if --trace is stdout, which belongs to the program.
void check_watch_options(const WatchOptions& options);

}  // namespace bankwise::driver
