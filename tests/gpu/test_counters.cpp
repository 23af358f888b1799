// SPDX-License-Identifier: MIT
//
// How counters are corrected; reading real ones takes a GPU.
#include <bankwise/gpu/counters.hpp>

#include "tests/catch_any.hpp"

using bankwise::gpu::Counters;
using bankwise::gpu::without_other_traffic;

TEST_CASE("gpu/counters/other_traffic") {
  // more_bytes with 65536 blocks on an H200; its loads have 5,056,005 conflicts.
  const Counters pipe{.shared_load_passes = 12'677'258, .shared_load_conflicts = 5'966'474, .replays = 2};
  const Counters corrected = without_other_traffic(pipe, {.shared_load_passes = 11'766'789, .replays = 3});
  CHECK(corrected.shared_load_passes == 11'766'789);
  CHECK(corrected.shared_load_conflicts == 5'056'005);
  CHECK(corrected.replays == 5);
}

TEST_CASE("gpu/counters/counted_twice") {
  // more_fft in one block.
  const Counters pipe{.shared_load_passes = 1160, .shared_load_conflicts = 712};
  const Counters corrected = without_other_traffic(pipe, {.shared_load_passes = 1176});
  CHECK(corrected.shared_load_passes == 1160);
  CHECK(corrected.shared_load_conflicts == 712);
}

TEST_CASE("gpu/counters/no_counts") {
  const Counters pipe{.shared_store_passes = 7, .shared_store_conflicts = 3, .dram_read_bytes = 9};
  const Counters corrected = without_other_traffic(pipe, {});
  CHECK(corrected.shared_store_passes == 7);
  CHECK(corrected.shared_store_conflicts == 3);
  CHECK(corrected.dram_read_bytes == 9);
  CHECK_FALSE(without_other_traffic({}, {.shared_store_passes = 7}).shared_store_passes);
}

TEST_CASE("gpu/counters/atomics") {
  const Counters pipe{.shared_store_passes = 20,
                      .shared_store_conflicts = 1,
                      .shared_atomic_passes = 1'686'960,
                      .shared_atomic_conflicts = 244'913};
  const Counters corrected =
      without_other_traffic(pipe, {.shared_store_passes = 10, .shared_atomic_passes = 1'442'047});
  CHECK(corrected.shared_store_conflicts == 0);
  CHECK(corrected.shared_atomic_passes == 1'442'047);
  CHECK(corrected.shared_atomic_conflicts == 0);
}
