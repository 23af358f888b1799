// SPDX-License-Identifier: MIT
#include <bankwise/trace/trace.hpp>

#include <algorithm>

#include "tests/catch_any.hpp"

using namespace bankwise;

TEST_CASE("trace/sampling/equal_distances") {
  for (const std::uint64_t blocks : {1, 2, 7, 64, 1000, 4099}) {
    for (const std::uint64_t most : {1, 2, 3, 7, 63, 64, 999}) {
      INFO(most << " of " << blocks);
      std::uint64_t watched = 0, gap = 0, widest = 0;
      for (std::uint64_t block = 0; block < blocks; ++block) {
        ++gap;
        if (!trace::is_sampled(block, blocks, most)) continue;
        ++watched;
        widest = std::max(widest, gap);
        gap = 0;
      }
      const std::uint64_t wanted = std::min(most, blocks);
      CHECK(watched == wanted);
      CHECK(widest <= (blocks + wanted - 1) / wanted);
      CHECK(gap == 0);  // the last one is watched
    }
  }
  CHECK(trace::is_sampled(5, 10, 0));
  CHECK(trace::is_sampled(~std::uint64_t{0} - 1, ~std::uint64_t{0}, 1));
}
