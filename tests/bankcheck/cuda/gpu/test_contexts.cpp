// SPDX-License-Identifier: MIT
//
// Several contexts, streams, host threads, graphs and devices. The programs verify their own results.
#include "watched_program.hpp"

TEST_CASE("cuda/gpu/contexts/contexts", "[contexts]") {
  check_program(program("contexts", "two"), {3, 3 + 5 + 5});
  check_program(program("contexts", "destroyed"), {2, 3 + 5}, {1, 7});
}

TEST_CASE("cuda/gpu/contexts/destroyed_while_running", "[contexts]") {
  const Checked c = watched_whole(program("contexts", "busy"));
  check_launches(c, "slow", 1, 11);
  CHECK(numbers(c.on("slow"), "late store", "store") == times(11, 32));
  CHECK(numbers(c.on("slow")) == times(11, 32));
}

TEST_CASE("cuda/gpu/contexts/streams_and_host_threads", "[streams]") {
  check_program(program("streams", "streams"), {32 * 5, 32 * 5 * 4}, {32 * 5, 32 * 5 * 2});
  check_program(program("streams", "threads"), {8 * 50, 8 * 50 * 3}, {8 * 25, 8 * 25 * 2});
}

TEST_CASE("cuda/gpu/contexts/graphs", "[graphs]") {
  check_program(program("streams", "graph"), {10, 10 * 3}, {10, 10 * 5});
  const Checked c = check_program(program("streams", "updated_graph"), {4 + 6, 4 * 3 + 6 * 5});
  CHECK(c.kernel("ways_32").at("several_sizes") == true);
}

TEST_CASE("cuda/gpu/contexts/two_devices", "[.two_devices]") {
  check_program(program("contexts", "devices"), {2, 3 + 5}, {1, 7});
}
