// SPDX-License-Identifier: MIT
#include "bankcheck/driver/watch_options.hpp"

#include <CLI/CLI.hpp>

#include <bankwise/support/exit_code.hpp>

namespace bankwise::driver {

void declare_watch_options(CLI::App& command, WatchOptions& options, const std::string& blocks) {
  command
      .add_option("--trace", options.trace,
                  "Write a trace of the kernels to this file, even if the program fails; see bankcheck report")
      ->check(CLI::Validator([](const std::string& text) { return text.empty() ? "it needs a value" : ""; }, ""));
  command
      .add_option("--max-launches", options.max_launches,
                  "Watch at most this many launches of each kernel, counted separately for each launch size; 0: all")
      ->capture_default_str();
  command
      .add_option("--max-groups", options.max_groups,
                  "Watch at most this many " + blocks + " of each launch, spread over the grid; 0: all")
      ->capture_default_str();
  command
      .add_option("--time-limit", options.time_limit,
                  "End the program after this many seconds, and report what was recorded; 0: never")
      ->check(CLI::Range(0.0, 1e9))
      ->capture_default_str();
}

void check_watch_options(const WatchOptions& options) {
  if (options.trace == "-") throw UsageError("--trace needs a file: stdout belongs to the program");
}

}  // namespace bankwise::driver
