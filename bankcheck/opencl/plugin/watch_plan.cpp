// SPDX-License-Identifier: MIT
#include "bankcheck/opencl/plugin/watch_plan.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>

namespace bankwise::opencl {
namespace {

std::uint64_t number_of_environment(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? 0 : std::strtoull(text, nullptr, 10);
}

}  // namespace

WatchPlan watch_plan_of_environment() {
  WatchPlan plan{
      .max_launches = number_of_environment("BANKWISE_MAX_LAUNCHES"),
      .max_groups = number_of_environment("BANKWISE_MAX_GROUPS"),
  };
  const char* globs = std::getenv("BANKWISE_KERNELS");
  std::istringstream lines(globs == nullptr ? "" : globs);
  for (std::string line; std::getline(lines, line);) plan.kernels.push_back(line);
  return plan;
}

bool WatchedLaunches::next(const std::string& kernel, const Size& global, const Size& local) {
  const auto matches = [&](const std::string& glob) { return fnmatch(glob.c_str(), kernel.c_str(), 0) == 0; };
  if (!plan_.kernels.empty() && std::none_of(plan_.kernels.begin(), plan_.kernels.end(), matches)) return false;
  return plan_.max_launches == 0 || launches_[{kernel, global, local}]++ < plan_.max_launches;
}

}  // namespace bankwise::opencl
