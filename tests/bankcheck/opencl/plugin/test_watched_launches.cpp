// SPDX-License-Identifier: MIT
#include "bankcheck/opencl/plugin/run_files.hpp"

#include "tests/catch_any.hpp"

using namespace bankwise::opencl;

TEST_CASE("opencl/plugin/watched_launches/launches_by_kernel_and_size") {
  WatchedLaunches launches(bankwise::support::OpenclRequest{.max_launches = 2});
  const WatchedLaunches::Size small{64, 1, 1}, large{128, 1, 1};
  CHECK(launches.next("a", small, small));
  CHECK(launches.next("a", small, small));
  CHECK_FALSE(launches.next("a", small, small));
  CHECK(launches.next("a", large, small));
  CHECK(launches.next("b", small, small));
}

TEST_CASE("opencl/plugin/watched_launches/glob_of_whole_name") {
  WatchedLaunches launches(bankwise::support::OpenclRequest{.kernels = {"scan_*", "sort"}});
  const WatchedLaunches::Size size{1, 1, 1};
  for (const char* name : {"scan_", "scan_local", "sort"}) CHECK(launches.next(name, size, size));
  for (const char* name : {"scan", "my_scan_", "sort2", ""}) CHECK_FALSE(launches.next(name, size, size));
}
