// SPDX-License-Identifier: MIT
//
// Several contexts, streams, host threads, graphs and devices. The programs verify their own results.
#include "watched_program.hpp"

TEST_CASE("cuda/gpu/contexts/two_contexts", "[contexts]") {
  const Checked c = watched_whole(program("contexts", "two"));
  check_kernels(c, {"ways_32"});
  check_ways_32(c, 3, 3 + 5 + 5);
}

TEST_CASE("cuda/gpu/contexts/destroyed_context", "[contexts]") {
  const Checked c = watched_whole(program("contexts", "destroyed"));
  check_kernels(c, {"ways_2", "ways_32"});
  check_ways_32(c, 2, 3 + 5);
  check_ways_2(c, 1, 7);
}

TEST_CASE("cuda/gpu/contexts/destroyed_while_running", "[contexts]") {
  const Checked c = watched_whole(program("contexts", "busy"));
  check_launches(c, "slow", 1, 11);
  CHECK(numbers(c.on("slow"), "late store", "store") == times(11, 32));
  CHECK(numbers(c.on("slow")) == times(11, 32));
}

TEST_CASE("cuda/gpu/contexts/many_streams", "[streams]") {
  const Checked c = watched_whole(program("streams", "streams"));
  check_kernels(c, {"ways_2", "ways_32"});
  check_ways_32(c, 32 * 5, 32 * 5 * 4);
  check_ways_2(c, 32 * 5, 32 * 5 * 2);
}

TEST_CASE("cuda/gpu/contexts/host_threads", "[streams]") {
  const Checked c = watched_whole(program("streams", "threads"));
  check_kernels(c, {"ways_2", "ways_32"});
  check_ways_32(c, 8 * 50, 8 * 50 * 3);
  check_ways_2(c, 8 * 25, 8 * 25 * 2);
}

TEST_CASE("cuda/gpu/contexts/graph_launches", "[graphs]") {
  const Checked c = watched_whole(program("streams", "graph"));
  check_kernels(c, {"ways_2", "ways_32"});
  check_ways_32(c, 10, 10 * 3);
  check_ways_2(c, 10, 10 * 5);
}

TEST_CASE("cuda/gpu/contexts/graph_with_new_parameters", "[graphs]") {
  const Checked c = watched_whole(program("streams", "updated_graph"));
  check_kernels(c, {"ways_32"});
  check_ways_32(c, 4 + 6, 4 * 3 + 6 * 5);
  CHECK(c.kernel("ways_32").at("several_sizes") == true);
}

TEST_CASE("cuda/gpu/contexts/two_devices", "[.two_devices]") {
  const Checked c = watched_whole(program("contexts", "devices"));
  check_kernels(c, {"ways_2", "ways_32"});
  check_ways_32(c, 2, 3 + 5);
  check_ways_2(c, 1, 7);
}
