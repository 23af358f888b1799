// SPDX-License-Identifier: MIT
#include "bankcheck/opencl/plugin/control_flow.hpp"
#include "bankcheck/opencl/plugin/run_files.hpp"
#include "tests/catch_any.hpp"

using namespace bankwise::opencl;

namespace {

// Headers and calls are identified by their addresses alone.
const char places[8]{};
const void* const outer = &places[0];
const void* const inner = &places[1];
const void* const other = &places[2];
const void* const here = &places[3];
const void* const there = &places[4];

struct Lanes {
  Paths paths;
  LanePath path, lane_a, lane_b;
  void both_enter(const std::vector<const void*>& loops, bool is_header) {
    for (LanePath* lane : {&lane_a, &lane_b}) lane->enter_block(loops, is_header);
  }
  bool same() { return lane_a.number(paths) == lane_b.number(paths); }
  bool at_root() { return same() && lane_a.number(paths) == Paths::root; }
};

}  // namespace

TEST_CASE_METHOD(Lanes, "opencl/plugin/lane_path/root") {
  CHECK(path.number(paths) == Paths::root);
  path.enter_block({outer}, true);
  path.enter_block({outer, inner}, true);
  path.enter_block({}, false);
  CHECK(path.number(paths) == Paths::root);
}

TEST_CASE_METHOD(Lanes, "opencl/plugin/lane_path/both_arms") {
  lane_a.enter_block({}, false);  // one arm
  CHECK(same());
  lane_a.enter_block({}, false);  // the end
  lane_b.enter_block({}, false);
  CHECK(at_root());
}

TEST_CASE_METHOD(Lanes, "opencl/plugin/lane_path/arms_in_loop") {
  for (int turn = 0; turn < 3; ++turn) {
    both_enter({outer}, true);
    lane_a.enter_block({outer}, false);
    const auto number = lane_a.number(paths);
    lane_b.enter_block({outer}, false);
    lane_b.enter_block({outer}, false);  // one block more
    CHECK(lane_b.number(paths) == number);
    CHECK(number != Paths::root);
  }
}

TEST_CASE_METHOD(Lanes, "opencl/plugin/lane_path/iteration_numbers") {
  std::vector<std::uint32_t> numbers;
  LanePath first;
  for (int turn = 0; turn < 5; ++turn) {
    first.enter_block({outer}, true);
    numbers.push_back(first.number(paths));
  }
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) CHECK(numbers[i] != numbers[j]);
  }
  LanePath second;
  for (const auto number : numbers) {
    second.enter_block({outer}, true);
    CHECK(second.number(paths) == number);
  }
}

TEST_CASE_METHOD(Lanes, "opencl/plugin/lane_path/unrequested_iterations") {
  LanePath asked, silent;
  for (int turn = 0; turn < 4; ++turn) {
    asked.enter_block({outer}, true);
    (void)asked.number(paths);
    silent.enter_block({outer}, true);
  }
  CHECK(silent.number(paths) == asked.number(paths));
  silent.enter_block({outer}, true);
  CHECK(silent.number(paths) != asked.number(paths));
}

TEST_CASE_METHOD(Lanes, "opencl/plugin/lane_path/different_exits") {
  lane_a.enter_block({outer}, true);
  for (int turn = 0; turn < 7; ++turn) lane_b.enter_block({outer}, true);
  CHECK_FALSE(same());
  both_enter({}, false);
  CHECK(at_root());
}

TEST_CASE_METHOD(Lanes, "opencl/plugin/lane_path/inner_loop") {
  both_enter({outer}, true);
  lane_a.enter_block({outer, inner}, true);
  const auto first = lane_a.number(paths);
  for (int turn = 0; turn < 3; ++turn) lane_b.enter_block({outer, inner}, true);
  CHECK(lane_b.number(paths) != first);
  lane_a.enter_block({outer}, false);
  lane_b.enter_block({outer}, true);  // `continue` of the outer loop, from within the inner one
  lane_a.enter_block({outer}, true);
  CHECK(same());
  CHECK(lane_a.number(paths) != first);
  both_enter({outer, inner}, true);
  CHECK(same());
  CHECK(lane_a.number(paths) != first);  // the same iteration of the inner loop, another one of the outer
}

TEST_CASE_METHOD(Lanes, "opencl/plugin/lane_path/different_loops") {
  lane_a.enter_block({outer}, true);
  lane_b.enter_block({other}, true);
  CHECK_FALSE(same());
  // From one loop directly into the next, with the same number of iterations.
  lane_a.enter_block({other}, true);
  CHECK(same());
}

TEST_CASE_METHOD(Lanes, "opencl/plugin/lane_path/call_sites") {
  lane_a.enter_call(here);
  lane_b.enter_call(there);
  const auto number = lane_a.number(paths);
  CHECK(number != Paths::root);
  CHECK(number != lane_b.number(paths));
  lane_a.leave_call();
  lane_b.leave_call();
  CHECK(at_root());
  lane_a.enter_call(there);
  lane_b.enter_call(here);
  CHECK(lane_b.number(paths) == number);
  CHECK(lane_a.number(paths) != number);
}

TEST_CASE_METHOD(Lanes, "opencl/plugin/lane_path/loops_of_function") {
  LanePath straight;
  path.enter_block({outer}, true);
  const auto in_loop = path.number(paths);
  path.enter_call(here);
  const auto in_call = path.number(paths);
  CHECK(in_call != in_loop);
  path.enter_block({inner}, true);
  const auto first = path.number(paths);
  CHECK(first != in_call);
  path.enter_block({inner}, true);
  CHECK(path.number(paths) != first);
  path.enter_block({}, false);
  CHECK(path.number(paths) == in_call);
  path.enter_block({inner}, true);
  path.leave_call();  // from within its loop
  CHECK(path.number(paths) == in_loop);
  path.enter_block({outer}, true);
  path.enter_call(here);
  CHECK(path.number(paths) != in_call);  // the call of the next iteration
  straight.enter_call(here);
  CHECK(straight.number(paths) != in_call);
}

TEST_CASE_METHOD(Lanes, "opencl/plugin/lane_path/recursion") {
  path.enter_call(here);
  const auto once = path.number(paths);
  path.enter_call(here);
  CHECK(path.number(paths) != once);
  path.leave_call();
  CHECK(path.number(paths) == once);
}

TEST_CASE_METHOD(Lanes, "opencl/plugin/lane_path/cleared_numbers") {
  LanePath old, silent;
  for (LanePath* lane : {&old, &silent}) {
    lane->enter_block({outer}, true);
    lane->enter_block({outer}, true);
    lane->enter_call(here);
    lane->enter_block({inner}, true);
  }
  for (int i = 0; i < 5; ++i) {  // numbers that no other lane has
    LanePath elsewhere;
    for (int turn = 0; turn <= i; ++turn) elsewhere.enter_block({other}, true);
    (void)elsewhere.number(paths);
  }
  const auto before = old.number(paths);
  const auto epoch = paths.epoch();
  paths.clear();
  CHECK(paths.epoch() != epoch);
  LanePath first;
  first.enter_block({other}, true);
  const auto taken = first.number(paths);
  CHECK(old.number(paths) == silent.number(paths));
  CHECK(old.number(paths) != before);  // there are fewer now
  CHECK(old.number(paths) != taken);
  old.leave_call();
  CHECK(old.number(paths) != silent.number(paths));
  silent.leave_call();
  CHECK(old.number(paths) == silent.number(paths));
}

TEST_CASE_METHOD(Lanes, "opencl/plugin/lane_path/returned_path_unused") {
  LanePath fresh;
  path.enter_call(here);
  path.enter_block({inner}, true);
  (void)path.number(paths);
  path.leave_call();
  path.enter_call(there);
  path.enter_block({inner}, true);
  fresh.enter_call(there);
  fresh.enter_block({inner}, true);
  CHECK(path.number(paths) == fresh.number(paths));
}

TEST_CASE("opencl/plugin/watched_launches/by_kernel_and_size") {
  WatchedLaunches launches(bankwise::support::OpenclRequest{.max_launches = 2});
  const WatchedLaunches::Size small{64, 1, 1}, large{128, 1, 1};
  CHECK(launches.next("a", small, small));
  CHECK(launches.next("a", small, small));
  CHECK_FALSE(launches.next("a", small, small));
  CHECK(launches.next("a", large, small));
  CHECK(launches.next("b", small, small));
  WatchedLaunches of_globs(bankwise::support::OpenclRequest{.kernels = {"scan_*", "sort"}});
  for (const char* name : {"scan_", "scan_local", "sort"}) CHECK(of_globs.next(name, small, small));
  for (const char* name : {"scan", "my_scan_", "sort2", ""}) CHECK_FALSE(of_globs.next(name, small, small));
}
