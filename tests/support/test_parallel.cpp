// SPDX-License-Identifier: MIT
#include <algorithm>
#include <mutex>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include <bankwise/support/parallel.hpp>
#include "tests/catch_any.hpp"

using namespace bankwise;

TEST_CASE("support/parallel/no_gaps") {
  using Range = std::pair<std::uint64_t, std::uint64_t>;
  constexpr std::uint64_t large = std::uint64_t{1} << 40, least = 4096;
  for (const std::uint64_t count : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{7}, least - 1, least, least + 1,
                                    2 * least, 3 * least + 1, std::uint64_t{100003}, large, large + 1}) {
    for (const unsigned threads : {0U, 1U, 2U, 3U, 8U}) {
      INFO(count << " with " << threads << " threads");
      std::mutex mutex;
      std::vector<Range> ranges;
      std::set<std::thread::id> ids;
      in_parallel_parts(count, threads, [&](std::uint64_t first, std::uint64_t last) {
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
        REQUIRE(first % least == 0);
        end = last;
      }
      REQUIRE(end == count);
      // With enough work, every thread has some; the caller's thread always does.
      if (threads > 0 && count >= threads * threads * least) REQUIRE(ranges.size() == threads);
      REQUIRE((count == 0 || ids.count(std::this_thread::get_id()) == 1));
    }
  }
}

TEST_CASE("support/parallel/each_item_once") {
  for (const std::uint64_t count : {0, 1, 5000, 100003}) {
    for (const unsigned threads : {1U, 2U, 5U}) {
      std::vector<int> taken(count, 0);
      in_parallel(count, threads, [&](std::uint64_t i) { ++taken[i]; });
      CHECK(std::size_t(std::count(taken.begin(), taken.end(), 1)) == count);
    }
  }
}
