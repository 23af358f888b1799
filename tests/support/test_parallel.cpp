// SPDX-License-Identifier: MIT
#include <algorithm>
#include <mutex>
#include <set>
#include <thread>

#include <bankwise/support/parallel.hpp>
#include "tests/catch_any.hpp"

using namespace bankwise;

TEST_CASE("threads divide a range without gaps") {
  using Range = std::pair<std::uint64_t, std::uint64_t>;
  constexpr std::uint64_t large = std::uint64_t{1} << 40;
  for (const std::uint64_t count :
       {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{2}, std::uint64_t{7}, std::uint64_t{8}, std::uint64_t{9},
        std::uint64_t{4096}, std::uint64_t{4097}, std::uint64_t{100003}, large, large + 1}) {
    for (const unsigned threads : {0U, 1U, 2U, 3U, 8U}) {
      for (const std::uint64_t multiple : {1, 4, 4096}) {
        INFO(count << " with " << threads << " threads, multiples of " << multiple);
        std::mutex mutex;
        std::vector<Range> ranges;
        std::set<std::thread::id> ids;
        in_parallel(count, threads, multiple, [&](std::uint64_t first, std::uint64_t last) {
          const std::lock_guard lock(mutex);
          ranges.emplace_back(first, last);
          ids.insert(std::this_thread::get_id());
        });
        std::sort(ranges.begin(), ranges.end());
        REQUIRE(ranges.size() <= std::max(1U, threads));
        std::uint64_t end = 0;
        for (const auto& [first, last] : ranges) {
          REQUIRE(first == end);
          REQUIRE(last > first);
          REQUIRE(first % multiple == 0);
          end = last;
        }
        REQUIRE(end == count);
        if (count == 0) REQUIRE(ranges.empty());
        // With enough work, every thread has some.
        if (threads > 0 && count >= threads * threads * multiple) REQUIRE(ranges.size() == threads);
        REQUIRE((count == 0 || ids.count(std::this_thread::get_id()) == 1));
      }
    }
  }
}
