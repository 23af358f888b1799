// SPDX-License-Identifier: MIT
#include "bankcheck/opencl/plugin/watch_plan.hpp"

#include <algorithm>

#include "tests/catch_any.hpp"

using namespace bankwise::opencl;

TEST_CASE("as many work-groups are watched as wanted, at equal distances") {
  for (const std::uint64_t groups : {1, 2, 7, 64, 1000, 4099}) {
    for (const std::uint64_t most : {1, 2, 3, 7, 63, 64, 999}) {
      INFO(most << " of " << groups);
      std::uint64_t watched = 0, gap = 0, widest = 0;
      for (std::uint64_t group = 0; group < groups; ++group) {
        ++gap;
        if (!is_watched(group, groups, most)) continue;
        ++watched;
        widest = std::max(widest, gap);
        gap = 0;
      }
      const std::uint64_t wanted = std::min(most, groups);
      CHECK(watched == wanted);
      CHECK(widest <= (groups + wanted - 1) / wanted);
      CHECK(gap == 0);  // the last one is watched
    }
  }
  CHECK(is_watched(5, 10, 0));
  CHECK(is_watched(~std::uint64_t{0} - 1, ~std::uint64_t{0}, 1));
}

TEST_CASE("launches are counted for each kernel and size") {
  WatchedLaunches launches({.max_launches = 2});
  const WatchedLaunches::Size small{64, 1, 1}, large{128, 1, 1};
  CHECK(launches.next("a", small, small));
  CHECK(launches.next("a", small, small));
  CHECK_FALSE(launches.next("a", small, small));
  CHECK(launches.next("a", large, small));
  CHECK(launches.next("b", small, small));
}

TEST_CASE("kernels are watched if a glob matches the whole name") {
  WatchedLaunches launches({.kernels = {"scan_*", "sort"}});
  const WatchedLaunches::Size size{1, 1, 1};
  for (const char* name : {"scan_", "scan_local", "sort"}) CHECK(launches.next(name, size, size));
  for (const char* name : {"scan", "my_scan_", "sort2", ""}) CHECK_FALSE(launches.next(name, size, size));
}
