// SPDX-License-Identifier: MIT
#include "bankcheck/cuda/injection/idle_watch.hpp"
#include "tests/catch_any.hpp"

using Watch = bankwise::cuda::IdleWatch<char, int>;

static void launch(Watch& watch, int thread, char stream) {
  watch.launch_begins(thread, stream);
  watch.launch_ends(thread);
}

TEST_CASE("cuda/injection/idle_watch/own_launches") {
  Watch watch;
  CHECK(watch.idle());
  launch(watch, 1, 's');
  CHECK_FALSE(watch.idle());
  watch.synchronized(1, 's');
  CHECK(watch.idle());
}

TEST_CASE("cuda/injection/idle_watch/other_thread_covered_second") {
  Watch watch;
  launch(watch, 1, 's');
  watch.synchronized(2, 's');
  CHECK_FALSE(watch.idle());
  watch.synchronized(3, 's');
  CHECK_FALSE(watch.idle());
  watch.synchronized(2, 's');
  CHECK(watch.idle());
}

TEST_CASE("cuda/injection/idle_watch/other_thread_in_stream") {
  Watch watch;
  for (const int thread : {1, 2}) launch(watch, thread, 's');
  watch.synchronized(1, 's');
  CHECK_FALSE(watch.idle());
  watch.synchronized(1, 's');
  CHECK(watch.idle());
}

TEST_CASE("cuda/injection/idle_watch/later_launch_starts_anew") {
  Watch watch;
  launch(watch, 1, 's');
  watch.synchronized(2, 's');
  launch(watch, 1, 's');
  watch.synchronized(2, 's');
  CHECK_FALSE(watch.idle());
  watch.synchronized(2, std::nullopt);
  CHECK(watch.idle());
}

TEST_CASE("cuda/injection/idle_watch/stream_or_context") {
  Watch watch;
  for (const char stream : {'a', 'b'}) launch(watch, 1, stream);
  for (int i = 0; i < 3; ++i) watch.synchronized(1, 'a');
  CHECK_FALSE(watch.idle());
  watch.synchronized(1, std::nullopt);
  CHECK(watch.idle());
}

TEST_CASE("cuda/injection/idle_watch/begun_launch_uncovered") {
  Watch watch;
  watch.launch_begins(1, 's');
  for (int i = 0; i < 3; ++i) watch.synchronized(2, 's');
  CHECK_FALSE(watch.idle());
  watch.launch_ends(1);
  CHECK_FALSE(watch.idle());
  for (int i = 0; i < 2; ++i) watch.synchronized(2, 's');
  CHECK(watch.idle());
}

TEST_CASE("cuda/injection/idle_watch/failed_synchronization") {
  Watch watch;
  watch.launch_begins(1, 's');
  watch.synchronized(1, 's');
  CHECK(watch.idle());
}
