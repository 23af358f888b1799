// SPDX-License-Identifier: MIT
//
// Which launches and work-groups the plugin records; all others run without being watched.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace bankwise::opencl {

struct WatchPlan {
  std::vector<std::string> kernels;  ///< globs, as a shell has them; empty: all kernels
  std::uint64_t max_launches = 0;    ///< of each kernel with the same sizes; 0: all
  std::uint64_t max_groups = 0;      ///< of each launch, spread over the grid; 0: all
};

/// BANKWISE_KERNELS (a glob on each line), BANKWISE_MAX_LAUNCHES and BANKWISE_MAX_GROUPS.
WatchPlan watch_plan_of_environment();

/// Counts launches. Not thread-safe.
class WatchedLaunches {
 public:
  explicit WatchedLaunches(WatchPlan plan) : plan_(std::move(plan)) {}

  using Size = std::array<std::uint64_t, 3>;
  /// Whether to record the launch that begins now.
  bool next(const std::string& kernel, const Size& global, const Size& local);

 private:
  WatchPlan plan_;
  std::map<std::tuple<std::string, Size, Size>, std::uint64_t> launches_;
};

}  // namespace bankwise::opencl
